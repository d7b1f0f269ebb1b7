// Files and folders with names from several scripts, walked in order.
package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func main() {
	files := map[string]string{
		"データ/héllo.txt":      "bonjour\n",
		"データ/你好/🦀.txt":       "crab 🦀\n",
		"データ/with space.txt": "a b c\n",
		"データ/Ωmega.txt":      "последний\n",
		"データ/.hidden/naïve":  "",
		"データ/'quote\"\n.txt": "newline in a name\n",
	}
	for name, text := range files {
		must(os.MkdirAll(filepath.Dir(name), 0o755))
		must(os.WriteFile(name, []byte(text), 0o644))
	}
	must(filepath.WalkDir("データ", func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			fmt.Printf("%q/\n", p)
			return nil
		}
		b, err := os.ReadFile(p)
		fmt.Printf("%q = %q\n", p, b)
		return err
	}))
	matches, err := filepath.Glob("データ/*.txt")
	must(err)
	fmt.Printf("%d names match: %q\n", len(matches), matches)
	must(os.Rename("データ/你好/🦀.txt", "データ/蟹.txt"))
	must(os.Remove("データ/你好"))
	entries, err := os.ReadDir("データ")
	must(err)
	for _, e := range entries {
		fmt.Printf("%q dir=%v\n", e.Name(), e.IsDir())
	}
}
