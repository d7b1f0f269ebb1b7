package hostile

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
)

// sight is what came of a variant.
type sight struct {
	variant variant
	failed  bool
	skipped string  // why
	ready   bool    // its container was made before it came
	late    float64 // seconds that the program ended after its time limit; below 0 before it
	// How many times as long as before a hello took afterwards, and the run next door meanwhile.
	hello, nextTo float64
	undivided     bool // no control group divides the cores: they are the processes', or the sessions'
}

var seen []sight

// add remembers it when its test ends. A server that something got through to is gone then.
func (s *sight) add(t *testing.T) {
	if t.Skipped() && s.skipped == "" {
		s.skipped = "no toolchain of " + s.variant.lang + " for this user"
		if s.variant.lang == "" {
			s.skipped = "the test says why"
		}
	}
	s.failed = t.Failed()
	seen = append(seen, *s)
	if s.failed {
		s.variant.combination.stop()
	}
}

const resultsPage = `# Programs that want out

What ` + "`make hostile`" + ` wrote. A row is a program of ` + "`test/hostile/rows`" + `, in one language after
the other, or a test beside them; the first column names the attacks of the catalogue. A number
says in how many languages it ran, got the verdict that it must have, reached nothing and left
nothing behind. A place is empty where the row has no meaning, says *open* where
[SECURITY.md](SECURITY.md) says so, and is **bold** where a program got through.

`

// summary is a page about what was seen.
func summary(seen []sight) string {
	type cell struct{ held, open, failed int }
	var rows []row
	languages, cells, skipped, open := map[string][]string{}, map[string]cell{}, map[string][]string{}, map[string][]string{}
	var total cell
	for _, s := range seen {
		r, lang := s.variant.row, s.variant.lang
		if _, ok := languages[r.name]; !ok {
			rows = append(rows, r)
		}
		if !slices.Contains(languages[r.name], lang) {
			languages[r.name] = append(languages[r.name], lang)
		}
		at := r.name + " " + s.variant.combination.String()
		c, why := cells[at], r.field("open", s.variant.words())
		switch {
		case s.failed:
			c.failed++
			total.failed++
		case s.skipped != "":
			skipped[s.skipped] = append(skipped[s.skipped], at+" "+lang)
		case why != "":
			open[why] = append(open[why], at+" "+lang)
			c.open++
			total.open++
		default:
			c.held++
			total.held++
		}
		cells[at] = c
	}
	var b strings.Builder
	b.WriteString(resultsPage + "| row | what it tries | in |")
	for _, c := range combinations() {
		fmt.Fprintf(&b, " %s |", c)
	}
	b.WriteString("\n|---|---|---|" + strings.Repeat("---|", len(combinations())) + "\n")
	for _, r := range rows {
		fmt.Fprintf(&b, "| %s | %s | %s |", strings.Join(r.ids, " "), r.title, strings.Join(languages[r.name], " "))
		for _, of := range combinations() {
			switch c := cells[r.name+" "+of.String()]; {
			case c.failed > 0:
				fmt.Fprintf(&b, " **%d of %d** |", c.failed, c.held+c.open+c.failed)
			case c.open > 0:
				fmt.Fprintf(&b, " %d open |", c.open)
			case c.held > 0:
				fmt.Fprintf(&b, " %d |", c.held)
			default:
				b.WriteString(" |")
			}
		}
		b.WriteString("\n")
	}
	left := len(seen) - total.held - total.open - total.failed
	fmt.Fprintf(&b, "\n%d rows, %d runs as they should be, %d not, %d of what stays open, %d left out.\n", len(rows), total.held, total.failed, total.open, left)
	b.WriteString(inTimes(seen))
	for _, of := range []struct {
		what string
		runs map[string][]string
	}{{"Stays open", open}, {"Left out", skipped}} {
		if len(of.runs) > 0 {
			fmt.Fprintf(&b, "\n%s:\n\n", of.what)
		}
		for _, why := range slices.Sorted(maps.Keys(of.runs)) {
			fmt.Fprintf(&b, "* %s: %s.\n", why, strings.Join(of.runs[why], ", "))
		}
	}
	b.WriteString(placed())
	return b.String()
}

// inTimes says how late the latest was, and how slow the slowest.
func inTimes(seen []sight) string {
	later, ready := 0, 0 // than a second after the limit; in containers that were made before
	latest, hello, nextTo := seen[0], seen[0], seen[0]
	for _, s := range seen {
		if s.late > latest.late {
			latest = s
		}
		if s.hello > hello.hello {
			hello = s
		}
		if s.nextTo > nextTo.nextTo {
			nextTo = s
		}
		if s.late > 1 {
			later++
		}
		if s.ready {
			ready++
		}
	}
	var b strings.Builder
	if ready > 0 {
		fmt.Fprintf(&b, "%d of them had a container that was ready.\n", ready)
	}
	if latest.late > 0 {
		fmt.Fprintf(&b, "Of the programs that met their time limit, the last to end did so %.2f s after it (%s), and %d more than a second after it.\n",
			latest.late, latest.variant, later)
	}
	if hello.hello > 0 {
		fmt.Fprintf(&b, "The slowest hello after a program took %.1f times what it took before (%s), and the slowest run next door %.1f times (%s).\n",
			hello.hello, hello.variant, nextTo.nextTo, nextTo.variant)
	}
	return b.String()
}
