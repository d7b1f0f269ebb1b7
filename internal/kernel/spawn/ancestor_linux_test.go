package spawn

import (
	"errors"
	"testing"

	"golang.org/x/sys/unix"
)

// An ancestor's child says what has become of it before its ancestor has answered, or after, and
// while others are on their way.
func TestDescendants(t *testing.T) {
	done, back := recordBytes(recordDone, 1, 2, 0), recordBytes(recordReady, 1, 0, 0)
	failed := recordBytes(recordFailed, 1, 1, int32(unix.ENOENT))
	for _, tc := range []struct {
		name string
		says [][]byte // nil is the ancestor's end
		want string   // of the child
		no   string   // of the fork
	}{
		{"back", [][]byte{done, back}, "", ""},
		{"back before its ancestor", [][]byte{back, done}, "", ""},
		{"failed", [][]byte{done, failed}, "inside: no such file or directory", ""},
		{"failed before its ancestor", [][]byte{failed, done}, "inside: no such file or directory", ""},
		{"failed, and then back", [][]byte{failed, done, back}, "inside: no such file or directory", ""},
		{"another's", [][]byte{recordBytes(recordReady, 9, 0, 0), recordBytes(recordFailed, 9, 1, 1), done, back}, "", ""},
		{"its ancestor ended", [][]byte{done, nil}, ErrGone.Error(), ""},
		{"its ancestor ended before it had forked", [][]byte{nil}, "", ErrGone.Error()},
		{"no fork", [][]byte{recordBytes(recordFailed, 1, 0, int32(unix.EAGAIN))}, "", "fork an interpreter: resource temporarily unavailable"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			f := newFakeInit(t)
			said := make(chan struct{})
			go func() {
				defer close(said)
				f.hear()
				for _, record := range tc.says {
					if record == nil {
						f.end()
						continue
					}
					f.say(record)
				}
			}()
			var p Program
			p.Beget(nil, func() { p.Call("inside", 3) })
			child, err := f.server.Beget(&p)
			<-said
			if got := text(err); got != tc.no {
				t.Fatalf("error %q, want %q", got, tc.no)
			}
			if err == nil && (child.PID != 2 || text(child.Err()) != tc.want) {
				t.Errorf("pid %d, error %q; want 2, %q", child.PID, text(child.Err()), tc.want)
			}
			f.end()
			f.server.WaitIdle() // what was said is heard then
			f.server.mu.Lock()
			defer f.server.mu.Unlock()
			if len(f.server.begotten) > 0 {
				t.Errorf("%d are still heard", len(f.server.begotten))
			}
		})
	}
}

// Of a child that is killed on its way nothing is heard, and nothing stays of it but what its ancestor
// may still say.
func TestDescendantThatIsForgotten(t *testing.T) {
	f := newFakeInit(t)
	go func() {
		f.hear()
		f.say(recordBytes(recordDone, 1, 2, 0))
	}()
	var p Program
	p.Beget(nil, func() { p.Call("inside", 3) })
	child, err := f.server.Beget(&p)
	if err != nil {
		t.Fatal(err)
	}
	f.server.Forget(child)
	if err := child.Err(); !errors.Is(err, ErrGone) {
		t.Errorf("error %v, want %v", err, ErrGone)
	}
	f.server.Forget(child) // and of one that was heard of already
	f.say(recordBytes(recordReady, 1, 0, 0))
	f.end()
	f.server.WaitIdle()
	if err := child.Err(); !errors.Is(err, ErrGone) {
		t.Errorf("error %v afterwards, want %v", err, ErrGone)
	}
	f.server.mu.Lock()
	defer f.server.mu.Unlock()
	if len(f.server.begotten) > 0 {
		t.Errorf("%d are still heard", len(f.server.begotten))
	}
}
