package landlock

import (
	"encoding/binary"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func words(b []byte) []uint64 {
	var words []uint64
	for ; len(b) > 0; b = b[8:] {
		words = append(words, binary.NativeEndian.Uint64(b))
	}
	return words
}

func TestBuildByABI(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	rules := Rules{
		ReadExec: []string{dir, file}, ReadWrite: []string{dir, file},
		DenyTCP: true, ScopeSignals: true, ScopeAbstractUnix: true,
	}
	// Written out as numbers, which are the kernel's and never change.
	tests := []struct {
		abi                         int
		attr                        []uint64
		readWriteDir, readWriteFile uint64
	}{
		{1, []uint64{0x1fff}, 0x17bf, 0x7},
		{2, []uint64{0x3fff}, 0x37bf, 0x7},
		{3, []uint64{0x7fff}, 0x77bf, 0x4007},
		{4, []uint64{0x7fff, 3}, 0x77bf, 0x4007},
		{5, []uint64{0xffff, 3}, 0x77bf, 0x4007},
		{6, []uint64{0xffff, 3, 3}, 0x77bf, 0x4007},
		{7, []uint64{0xffff, 3, 3}, 0x77bf, 0x4007},
		{99, []uint64{0xffff, 3, 3}, 0x77bf, 0x4007},
	}
	for _, test := range tests {
		set, err := rules.Build(test.abi)
		if err != nil {
			t.Fatal(err)
		}
		if got := words(set.Attr); !slices.Equal(got, test.attr) {
			t.Errorf("ABI %d: attributes %#x, want %#x", test.abi, got, test.attr)
		}
		want := []PathRule{{dir, 0xd}, {file, 0x5}, {dir, test.readWriteDir}, {file, test.readWriteFile}}
		if !slices.Equal(set.Paths, want) {
			t.Errorf("ABI %d: paths %#x, want %#x", test.abi, set.Paths, want)
		}
	}
}

func TestBuildAsksForNoMore(t *testing.T) {
	tests := []struct {
		rules Rules
		want  []uint64
	}{
		{Rules{}, []uint64{0xffff, 0, 0}},
		{Rules{DenyTCP: true}, []uint64{0xffff, 3, 0}},
		{Rules{ScopeAbstractUnix: true}, []uint64{0xffff, 0, 1}},
		{Rules{ScopeSignals: true}, []uint64{0xffff, 0, 2}},
	}
	for _, test := range tests {
		set, err := test.rules.Build(7)
		if err != nil {
			t.Fatal(err)
		}
		if got := words(set.Attr); !slices.Equal(got, test.want) || len(set.Paths) != 0 {
			t.Errorf("%+v: %#x %v, want %#x", test.rules, got, set.Paths, test.want)
		}
	}
}

func TestBuildRefuses(t *testing.T) {
	for _, abi := range []int{0, -1} {
		if _, err := (Rules{}).Build(abi); err == nil {
			t.Errorf("ABI %d was taken", abi)
		}
	}
	missing := filepath.Join(t.TempDir(), "missing")
	for _, rules := range []Rules{{ReadExec: []string{missing}}, {ReadWrite: []string{missing}}} {
		if _, err := rules.Build(7); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%+v: %v", rules, err)
		}
	}
}

func TestPathRuleAttr(t *testing.T) {
	b := PathRule{Access: 0x1122334455667788}.Attr(-2)
	if len(b) != 12 || binary.NativeEndian.Uint64(b) != 0x1122334455667788 || int32(binary.NativeEndian.Uint32(b[8:])) != -2 {
		t.Errorf("%x", b)
	}
}
