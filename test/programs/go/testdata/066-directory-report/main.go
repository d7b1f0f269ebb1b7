// Builds a tree of folders and reports sizes by folder and by extension.
package main

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"sort"
	"strings"
)

func build(root string) error {
	for i := 0; i < 40; i++ {
		dir := filepath.Join(root, fmt.Sprintf("d%d", i%4), fmt.Sprintf("sub%d", i%3))
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
		ext := []string{".txt", ".log", ".md", ""}[i%4]
		name := filepath.Join(dir, fmt.Sprintf("file%02d%s", i, ext))
		if err := os.WriteFile(name, []byte(strings.Repeat("x", i*i)), 0o644); err != nil {
			return err
		}
	}
	return nil
}

func main() {
	if err := build("tree"); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	byDir, byExt := map[string]int64{}, map[string]int64{}
	files := 0
	fsys := os.DirFS("tree")
	err := fs.WalkDir(fsys, ".", func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if p == "d3/sub1" {
				fmt.Println("skipping", p)
				return fs.SkipDir
			}
			return nil
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		files++
		byExt[path.Ext(p)] += info.Size()
		for dir := path.Dir(p); ; dir = path.Dir(dir) {
			byDir[dir] += info.Size()
			if dir == "." {
				return nil
			}
		}
	})
	fmt.Println(files, "files", err)
	for _, m := range []map[string]int64{byDir, byExt} {
		keys := make([]string, 0, len(m))
		for k := range m {
			keys = append(keys, k)
		}
		sort.Strings(keys)
		for _, k := range keys {
			fmt.Printf("%8d %s%s\n", m[k], strings.Repeat("  ", strings.Count(k, "/")), k)
		}
	}
	matches, err := fs.Glob(fsys, "d*/sub0/*.md")
	fmt.Println(matches, err)
}
