package image

import (
	"archive/tar"
	"bytes"
	"strconv"
	"strings"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// seeds are archives that have broken into hosts elsewhere, and their kin.
func seeds(t testing.TB) [][]byte {
	all := [][]byte{nil, base(t), gzipped(t, base(t)), zstdCompressed(t, base(t)), sparse(1 << 18), sparse(1 << 40), paxOf(t, 1000)}
	for _, entries := range [][]entry{
		{file("../canary/file", "dead")},
		{file("/canary/file", "dead"), dir("/etc")},
		{link("x", "../canary"), file("x/file", "dead")},
		{link("x", "/"), link("y", "x/.."), file("y/canary/file", "dead")},
		{link("d", "up"), file("d/file", "dead"), hardLink("d/hard", "up/file")},
		{hardLink("x", "../canary/file"), file("x", "dead")},
		{hardLink("x", "up"), file("x/etc/passwd", "dead")},
		{hardLink("x", "etc/passwd"), mode(file("x", "new"), 0o6777)},
		{special("dev/null", tar.TypeChar), special("f", tar.TypeFifo), special("b", tar.TypeBlock), hardLink("x", "dev/null")},
		{file("up/.wh.file", ""), file("up/.wh..wh..opq", ""), file(".wh..wh..opq", "")},
		{file(".wh...", "")}, {file(".wh..", "")}, {file(".wh.", "")}, {file(".wh.up", "")},
		{mode(dir("c"), 0), file("c/f", "x"), dir("./"), mode(dir("g"), 0o7777)},
		{file(strings.Repeat("x/", 200)+"f", "x")},
		{link("loop2", "loop2/x"), file("loop2/f", "x")},
		{dir("a/b/c"), link("a/b/c/up", "../../../../.."), file("a/b/c/up/canary/file", "dead")},
		{link("dev", "/proc"), link("proc", "../canary"), file("proc/file", "dead")},
	} {
		data := archive(t, entries...)
		all = append(all, data, gzipped(t, data))
	}
	return all
}

// repaired corrects the checksums of an archive's headers, so that what the fuzzer
// has changed in them is looked at.
func repaired(data []byte) []byte {
	data = bytes.Clone(data)
	for at := 0; at+512 <= len(data); {
		header := data[at : at+512]
		if isZero(header) {
			break
		}
		rechecked(header)
		size, _ := strconv.ParseInt(strings.Trim(string(header[124:135]), " \x00"), 8, 64)
		at += 512 + int(min(max(size, 0), int64(len(data)))+511)/512*512
	}
	return data
}

// FuzzUnpack unpacks any bytes as a layer, alone and over an ordinary one.
// Whatever they are, nothing outside is touched, nothing but files, directories
// and links is made, and all of it can be removed.
func FuzzUnpack(f *testing.F) {
	for _, seed := range seeds(f) {
		f.Add(seed)
	}
	limits := Limits{Bytes: 1 << 20, Files: 500, Depth: 40}
	f.Fuzz(func(t *testing.T, data []byte) {
		over := newArena(t, limits)
		if err := over.layer(base(t)); err != nil {
			t.Fatal(err)
		}
		alone := newArena(t, limits)
		for a, data := range map[*arena][]byte{over: repaired(data), alone: data} {
			if err := a.layer(data); err == nil {
				_ = a.unpacker.complete() // refuses some
			}
			if u := a.unpacker; u.bytes > limits.Bytes || u.files > limits.Files+1 {
				t.Errorf("%d bytes and %d files were unpacked", u.bytes, u.files)
			}
			a.check(t)
		}
	})
}

// FuzzArchive reads any bytes as an archive that holds images.
func FuzzArchive(f *testing.F) {
	for _, seed := range archiveSeeds(f) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		s := openStore(t, t.TempDir(), Options{Limits: Limits{Bytes: 1 << 20, Files: 500}})
		images, err := s.Import(t.Context(), written(t, data), "")
		if err != nil && len(images) == 0 && len(must[[]Image](t)(s.List())) != 0 {
			t.Errorf("an import that failed has left images: %v", err)
		}
		if left := leftovers(t, s); len(left) != 0 {
			t.Errorf("the import has left %v", left)
		}
		for _, img := range images {
			if err := s.Remove(t.Context(), img.Digest); err != nil {
				t.Error(err)
			}
		}
	})
}

// archiveSeeds are archives of images, good and bad.
func archiveSeeds(t testing.TB) [][]byte {
	img := imageOf(t, base(t))
	saved := dockerSaved(t, map[string]v1.Image{"a:1": img})
	laidOut := layoutArchive(t, img, "a:1")
	return [][]byte{
		saved, laidOut, gzipped(t, saved), bytes.Replace(laidOut, []byte("sha256"), []byte("sha512"), 1),
		archive(t, file("manifest.json", `[{"Config":"c","Layers":["l"]}]`), link("c", "c"), link("l", "../../etc/passwd")),
		archive(t, file("index.json", `{"manifests":[{"digest":"sha256:`+strings.Repeat("0", 64)+`"}]}`)),
		archive(t, file("index.json", `{"manifests":[{}]}`)),
	}
}
