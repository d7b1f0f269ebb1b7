package docker

import (
	"runtime"
	"strings"
	"testing"
)

// Only of a process that could be seen is it known that it has died.
func TestMaker(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("/proc is Linux's")
	}
	mine := maker()
	if died(mine) {
		t.Errorf("%q lives", mine)
	}
	began := mine[strings.LastIndex(mine, " ")+1:]
	for label, want := range map[string]bool{
		"": false, "anything": false, numberedBy() + " x " + began: false,
		strings.TrimSuffix(mine, began) + "1":                               true, // its number is another's by now
		numberedBy() + " 99999999 1":                                        true,
		strings.Replace(numberedBy(), "-", "+", 1) + " 99999999 1":          false, // of another life of the machine, or another machine
		strings.Replace(numberedBy(), "pid:[", "pid:[1", 1) + " 99999999 1": false,
	} {
		if died(label) != want {
			t.Errorf("%q: dead is %v, want %v", label, !want, want)
		}
	}
}
