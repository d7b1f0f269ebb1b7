// Data and templates compiled into the program.
package main

import (
	"embed"
	"encoding/csv"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"text/template"
)

//go:embed assets
var assets embed.FS

//go:embed assets/greetings.csv
var greetings string

type greeting struct{ Lang, Text string }

func main() {
	records, err := csv.NewReader(strings.NewReader(greetings)).ReadAll()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	var all []greeting
	for _, r := range records[1:] {
		all = append(all, greeting{r[0], r[1]})
	}
	t := template.Must(template.New("").Funcs(template.FuncMap{
		"runes": func(s string) int { return len([]rune(s)) },
	}).ParseFS(assets, "assets/*.tmpl"))
	if err := t.ExecuteTemplate(os.Stdout, "list.tmpl", all); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fs.WalkDir(assets, ".", func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err == nil {
			fmt.Println(p, info.Size(), info.Mode())
		}
		return err
	})
	_, err = assets.ReadFile("assets/none.txt")
	fmt.Println(err)
}
