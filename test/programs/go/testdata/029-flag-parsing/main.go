// A small "grep -c" like tool: flags, a custom flag type and positionals.
package main

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"time"
)

type list []string

func (l *list) String() string { return strings.Join(*l, ",") }
func (l *list) Set(s string) error {
	if s == "" {
		return fmt.Errorf("may not be empty")
	}
	*l = append(*l, s)
	return nil
}

func main() {
	var words list
	fs := flag.NewFlagSet("count", flag.ContinueOnError)
	fs.SetOutput(os.Stdout)
	fs.Var(&words, "word", "word to count (repeatable)")
	fold := fs.Bool("i", false, "ignore case")
	limit := fs.Int("limit", 10, "most to report")
	wait := fs.Duration("wait", time.Second, "how long to wait")
	if err := fs.Parse(os.Args[1:]); err != nil {
		os.Exit(2)
	}
	text := strings.Join(fs.Args(), " ")
	fmt.Printf("fold=%v limit=%d wait=%v words=%v rest=%d\n", *fold, *limit, *wait, &words, fs.NArg())
	for _, w := range words {
		t := text
		if *fold {
			t, w = strings.ToLower(t), strings.ToLower(w)
		}
		fmt.Printf("%s: %d\n", w, min(*limit, strings.Count(t, w)))
	}
	fs.VisitAll(func(f *flag.Flag) { fmt.Printf("-%s default %q is %q\n", f.Name, f.DefValue, f.Value) })
	fmt.Println("error:", fs.Parse([]string{"-limit=many"}) != nil)
}
