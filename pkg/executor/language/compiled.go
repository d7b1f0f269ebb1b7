package language

import (
	"bytes"
	"maps"
	"math"
	"path"
	"slices"
	"strings"
)

// sourceFiles is what the user gave by path: all files, and the code that came
// without a name under the first of the language's [Info.Entries].
func sourceFiles(src Source, name string) map[string][]byte {
	files := make(map[string][]byte, len(src.Files)+1)
	maps.Copy(files, src.Files)
	if src.Code != nil {
		files[name] = src.Code
	}
	return files
}

// namesWithSuffix lists the files with a suffix, sorted.
func namesWithSuffix(files map[string][]byte, suffix string) []string {
	var names []string
	for name := range files {
		if strings.HasSuffix(name, suffix) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// nearestDir is the closest directory, from dir upwards, that holds one of names.
func nearestDir(files map[string][]byte, dir string, names ...string) (string, bool) {
	for {
		for _, name := range names {
			if _, ok := files[path.Join(dir, name)]; ok {
				return dir, true
			}
		}
		up := path.Dir(dir)
		if up == dir { // "." at the end, or "/" of an entry that is no name of the workspace
			return "", false
		}
		dir = up
	}
}

// commentShebang turns a first line #! into a comment, for languages whose
// compilers do not know it. Lines keep their numbers.
func commentShebang(code []byte) []byte {
	rest, ok := bytes.CutPrefix(code, []byte("#!"))
	if !ok {
		return code
	}
	return append([]byte("//"), rest...)
}

// wholeCPUs is a CPU limit as the number of threads that can run at once: half
// a core is still one thread.
func wholeCPUs(cpus float64) int {
	return max(1, int(math.Ceil(cpus)))
}

// diskFull tells whether a program or compiler found no space to write to, in
// the words of the C library or of Go.
func diskFull(stderr string) bool {
	return strings.Contains(strings.ToLower(stderr), "no space left on device")
}
