// An invoice rendered with text/template, helpers and nested blocks.
package main

import (
	"fmt"
	"os"
	"strings"
	"text/template"
)

type position struct {
	Name  string
	Count int
	Cents int
}

func (p position) Total() int { return p.Count * p.Cents }

type invoice struct {
	Number    int
	Customer  string
	Positions []position
}

func (i invoice) Sum() (sum int) {
	for _, p := range i.Positions {
		sum += p.Total()
	}
	return sum
}

const layout = `{{define "row"}}{{printf "%-18s %3d x %8s = %9s" .Name .Count (money .Cents) (money .Total)}}{{end -}}
Invoice {{printf "%05d" .Number}} for {{upper .Customer}}
{{rule 47}}
{{range $i, $p := .Positions}}{{template "row" $p}}{{if gt $p.Total 10000}} *{{end}}
{{else}}nothing bought
{{end}}{{rule 47}}
{{with .Sum}}total {{money .}}{{else}}no charge{{end}}

`

func main() {
	t := template.Must(template.New("invoice").Funcs(template.FuncMap{
		"money": func(cents int) string { return fmt.Sprintf("%d.%02d €", cents/100, cents%100) },
		"upper": strings.ToUpper,
		"rule":  func(n int) string { return strings.Repeat("-", n) },
	}).Parse(layout))
	for _, inv := range []invoice{
		{7, "Åse Sørensen", []position{{"copper wire", 3, 1250}, {"lamp", 12, 999}, {"screw", 400, 3}}},
		{8, "nobody", nil},
	} {
		if err := t.Execute(os.Stdout, inv); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
}
