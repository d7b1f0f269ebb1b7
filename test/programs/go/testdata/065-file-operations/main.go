// Creates, appends, seeks, truncates, copies, renames and removes files.
package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log"
	"os"
)

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

func copyFile(dst, src string) (int64, error) {
	in, err := os.Open(src)
	if err != nil {
		return 0, err
	}
	defer in.Close()
	out, err := os.OpenFile(dst, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return 0, err
	}
	n, err := io.Copy(out, in)
	return n, errors.Join(err, out.Close())
}

func main() {
	check(os.Mkdir("work", 0o755))
	check(os.Chdir("work"))
	f, err := os.Create("notes.txt")
	check(err)
	w := bufio.NewWriter(f)
	for i := 1; i <= 100; i++ {
		fmt.Fprintf(w, "line %03d héllo\n", i)
	}
	check(w.Flush())
	pos, err := f.Seek(16*41, io.SeekStart)
	check(err)
	_, err = f.WriteString("LINE")
	check(err)
	part := make([]byte, 16)
	_, err = f.ReadAt(part, pos)
	fmt.Printf("at %d: %q %v\n", pos, part, err)
	check(f.Truncate(16 * 50))
	check(f.Close())

	n, err := copyFile("copy.txt", "notes.txt")
	fmt.Println("copied", n, err)
	_, err = copyFile("copy.txt", "notes.txt")
	fmt.Println("again:", errors.Is(err, fs.ErrExist))
	a, err := os.OpenFile("copy.txt", os.O_APPEND|os.O_WRONLY, 0)
	check(err)
	fmt.Fprintln(a, "appended 你好 🦀")
	check(a.Close())
	check(os.Rename("copy.txt", "renamed.txt"))
	info, err := os.Stat("renamed.txt")
	check(err)
	fmt.Println(info.Name(), info.Size(), info.Mode(), info.IsDir())
	check(os.Symlink("renamed.txt", "link"))
	target, err := os.Readlink("link")
	fmt.Println("link to", target, err)
	check(os.Remove("notes.txt"))
	_, err = os.Stat("notes.txt")
	fmt.Println(err)
	tmp, err := os.CreateTemp("", "scratch-*.tmp")
	check(err)
	defer os.Remove(tmp.Name())
	fmt.Println("temporary file made:", tmp.Close() == nil)
	fmt.Println(os.Remove("../work") != nil)
}
