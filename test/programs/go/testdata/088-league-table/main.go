// Computes a league table from results and aligns it with a tab writer.
package main

import (
	"bufio"
	"fmt"
	"os"
	"slices"
	"strings"
	"text/tabwriter"
)

type team struct {
	name                        string
	won, drawn, lost, pro, anti int
}

func (t team) points() int { return 3*t.won + t.drawn }

func (t *team) add(pro, anti int) {
	t.pro += pro
	t.anti += anti
	switch {
	case pro > anti:
		t.won++
	case pro == anti:
		t.drawn++
	default:
		t.lost++
	}
}

func main() {
	teams := map[string]*team{}
	get := func(name string) *team {
		if teams[name] == nil {
			teams[name] = &team{name: name}
		}
		return teams[name]
	}
	sc := bufio.NewScanner(os.Stdin)
	for n := 1; sc.Scan(); n++ {
		home, away, ok := strings.Cut(sc.Text(), " - ")
		var a, b int
		if !ok {
			fmt.Fprintf(os.Stderr, "line %d ignored\n", n)
			continue
		}
		away, score, _ := strings.Cut(away, ": ")
		if _, err := fmt.Sscanf(score, "%d:%d", &a, &b); err != nil {
			fmt.Fprintf(os.Stderr, "line %d: %v\n", n, err)
			continue
		}
		get(home).add(a, b)
		get(away).add(b, a)
	}
	var table []*team
	for _, t := range teams {
		table = append(table, t)
	}
	slices.SortFunc(table, func(x, y *team) int {
		if d := y.points() - x.points(); d != 0 {
			return d
		}
		if d := (y.pro - y.anti) - (x.pro - x.anti); d != 0 {
			return d
		}
		return strings.Compare(x.name, y.name)
	})
	w := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight|tabwriter.Debug)
	fmt.Fprintln(w, "#\tteam\tw\td\tl\tgoals\tpts\t")
	for i, t := range table {
		fmt.Fprintf(w, "%d\t%s\t%d\t%d\t%d\t%d:%d\t%d\t\n", i+1, t.name, t.won, t.drawn, t.lost, t.pro, t.anti, t.points())
	}
	w.Flush()
}
