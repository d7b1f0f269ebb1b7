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
	variant   variant
	undivided bool // no control group divides the cores: they are the processes', or the sessions'

	Row, Title string
	IDs        []string
	Lang, On   string // On names the combination
	Failed     bool
	Skipped    string  // why
	Open       string  // why it stays open
	Ready      bool    // its container was made before it came
	Late       float64 // seconds that the program ended after its time limit; below 0 before it
	// How many times as long as before a hello took afterwards, and the run next door meanwhile.
	Hello, NextTo float64
}

func (s *sight) String() string { return s.Row + ", " + s.On + ", " + s.Lang }

// seen is what came of all variants, those of the run included that this one goes on with.
var seen []sight

// add remembers it when its test ends. A server that something got through to is gone then.
func (s *sight) add(t *testing.T) {
	v := s.variant
	if t.Skipped() && s.Skipped == "" {
		s.Skipped = "no toolchain of " + v.lang + " for this user"
		if v.lang == "" {
			s.Skipped = "the test says why"
		}
	}
	s.Row, s.IDs, s.Title, s.Lang, s.On = v.row.name, v.row.ids, v.row.title, v.lang, v.combination.String()
	s.Open, s.Failed = v.row.field("open", v.words()), t.Failed()
	seen = append(seen, *s)
	if err := journal.add(*s); err != nil {
		t.Error(err)
	}
	if s.Failed {
		v.combination.stop()
	}
}

const resultsPage = `# Programs that want out

What ` + "`make hostile`" + ` wrote. A row is a program of ` + "`test/hostile/rows`" + `, in one language after
the other with ` + "`local`" + ` and in the cheapest with others, or a test beside them; the first
column names the attacks of the catalogue. A number
says in how many languages it ran, got the verdict that it must have, reached nothing and left
nothing behind. A place is empty where the row has no meaning, says *open* where
[SECURITY.md](SECURITY.md) says so, and is **bold** where a program got through.

`

// summary is a page about what was seen.
func summary(seen []sight) string {
	type cell struct{ held, open, failed int }
	var rows []sight // the first of each
	languages, cells, skipped, open := map[string][]string{}, map[string]cell{}, map[string][]string{}, map[string][]string{}
	var failed []string
	var total cell
	for _, s := range seen {
		if _, ok := languages[s.Row]; !ok {
			rows = append(rows, s)
		}
		if !slices.Contains(languages[s.Row], s.Lang) {
			languages[s.Row] = append(languages[s.Row], s.Lang)
		}
		at := s.Row + " " + s.On
		c := cells[at]
		switch {
		case s.Failed:
			failed = append(failed, at+" "+s.Lang)
			c.failed++
			total.failed++
		case s.Skipped != "":
			skipped[s.Skipped] = append(skipped[s.Skipped], at+" "+s.Lang)
		case s.Open != "":
			open[s.Open] = append(open[s.Open], at+" "+s.Lang)
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
		fmt.Fprintf(&b, "| %s | %s | %s |", strings.Join(r.IDs, " "), r.Title, strings.Join(languages[r.Row], " "))
		for _, of := range combinations() {
			switch c := cells[r.Row+" "+of.String()]; {
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
	if len(failed) > 0 {
		fmt.Fprintf(&b, "\nNot as they should be: %s.\n", strings.Join(failed, ", "))
	}
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
		if s.Late > latest.Late {
			latest = s
		}
		if s.Hello > hello.Hello {
			hello = s
		}
		if s.NextTo > nextTo.NextTo {
			nextTo = s
		}
		if s.Late > 1 {
			later++
		}
		if s.Ready {
			ready++
		}
	}
	var b strings.Builder
	if ready > 0 {
		fmt.Fprintf(&b, "%d of them had a container that was ready.\n", ready)
	}
	if latest.Late > 0 {
		fmt.Fprintf(&b, "Of the programs that met their time limit, the last to end did so %.2f s after it (%s), and %d more than a second after it.\n",
			latest.Late, latest.String(), later)
	}
	if hello.Hello > 0 {
		fmt.Fprintf(&b, "The slowest hello after a program took %.1f times what it took before (%s), and the slowest run next door %.1f times (%s).\n",
			hello.Hello, hello.String(), nextTo.NextTo, nextTo.String())
	}
	return b.String()
}
