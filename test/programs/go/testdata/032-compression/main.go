// Compresses and restores data with gzip, zlib, flate and lzw.
package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/lzw"
	"compress/zlib"
	"fmt"
	"io"
	"strings"
)

func main() {
	text := []byte(strings.Repeat("the cat sat on the mat, 你好 🦀. ", 2000))
	for _, c := range []struct {
		name string
		w    func(io.Writer) io.WriteCloser
		r    func(io.Reader) (io.ReadCloser, error)
	}{
		{"gzip", func(w io.Writer) io.WriteCloser { return gzip.NewWriter(w) }, func(r io.Reader) (io.ReadCloser, error) { return gzip.NewReader(r) }},
		{"zlib", func(w io.Writer) io.WriteCloser { return zlib.NewWriter(w) }, zlib.NewReader},
		{"flate", func(w io.Writer) io.WriteCloser { f, _ := flate.NewWriter(w, 9); return f }, func(r io.Reader) (io.ReadCloser, error) { return flate.NewReader(r), nil }},
		{"lzw", func(w io.Writer) io.WriteCloser { return lzw.NewWriter(w, lzw.LSB, 8) }, func(r io.Reader) (io.ReadCloser, error) { return lzw.NewReader(r, lzw.LSB, 8), nil }},
	} {
		var buf bytes.Buffer
		w := c.w(&buf)
		w.Write(text)
		w.Close()
		small := buf.Len() < len(text)/10
		r, err := c.r(&buf)
		if err != nil {
			panic(err)
		}
		back, err := io.ReadAll(r)
		fmt.Println(c.name, "ten times smaller:", small, "restored:", bytes.Equal(back, text), err)
	}
	_, err := gzip.NewReader(strings.NewReader("plainly not gzip"))
	fmt.Println(err)

	var archive bytes.Buffer
	zw := zip.NewWriter(&archive)
	for _, n := range []string{"a.txt", "dir/你好.txt"} {
		f, _ := zw.Create(n)
		fmt.Fprintf(f, "this is %s", n)
	}
	zw.Close()
	zr, _ := zip.NewReader(bytes.NewReader(archive.Bytes()), int64(archive.Len()))
	for _, f := range zr.File {
		fmt.Println("zip:", f.Name, f.UncompressedSize64)
	}
	archive.Reset()
	tw := tar.NewWriter(&archive)
	tw.WriteHeader(&tar.Header{Name: "🦀", Mode: 0o600, Size: 4})
	tw.Write([]byte("crab"))
	tw.Close()
	h, _ := tar.NewReader(&archive).Next()
	fmt.Println("tar:", h.Name, h.Size, h.FileInfo().Mode())
}
