package cgroup

import "testing"

// A group that goes while its processes are killed has none left.
func TestSignalAllOfNoGroup(t *testing.T) {
	base, err := openDir(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer base.Close()
	if err := (&tree{base: base}).signalAll("gone", nil); err != nil {
		t.Error(err)
	}
}
