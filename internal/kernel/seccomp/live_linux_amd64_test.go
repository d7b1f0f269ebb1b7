package seccomp

import (
	"encoding/binary"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
)

// executable wraps machine code into the smallest program that Linux starts.
func executable(t *testing.T, code ...byte) string {
	t.Helper()
	const base, headers = 0x400000, 64 + 56
	b := append([]byte("\x7fELF\x02\x01\x01"), make([]byte, 9)...)
	le := binary.LittleEndian
	for _, half := range []uint16{2, 62} { // an executable for x86-64
		b = le.AppendUint16(b, half)
	}
	b = le.AppendUint32(b, 1)
	for _, word := range []uint64{base + headers, 64, 0} { // entry, program headers, sections
		b = le.AppendUint64(b, word)
	}
	b = le.AppendUint32(b, 0)
	for _, half := range []uint16{64, 56, 1, 0, 0, 0} {
		b = le.AppendUint16(b, half)
	}
	b = le.AppendUint32(b, 1) // load
	b = le.AppendUint32(b, 5) // to read and execute
	size := uint64(headers + len(code))
	for _, word := range []uint64{0, base, base, size, size, 4096} {
		b = le.AppendUint64(b, word)
	}
	path := filepath.Join(t.TempDir(), "program")
	if err := os.WriteFile(path, append(b, code...), 0o700); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestLiveOtherInterfaces enters the kernel by its 32-bit doors.
func TestLiveOtherInterfaces(t *testing.T) {
	exit := []byte{0x31, 0xff, 0xb8, 60, 0, 0, 0, 0x0f, 0x05} // exit(0)
	tests := []struct {
		name string
		code []byte
	}{
		{"int 0x80", []byte{0xb8, 20, 0, 0, 0, 0xcd, 0x80}},                   // mov eax, getpid; int 0x80
		{"x32", []byte{0xb8, 39, 0, 0, 0x40, 0x0f, 0x05}},                     // mov eax, getpid|x32; syscall
		{"minus one", []byte{0x48, 0x31, 0xc0, 0x48, 0xff, 0xc8, 0x0f, 0x05}}, // rax = -1; syscall
	}
	filter := nativeFilter(t, Options{})
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			path := executable(t, append(test.code, exit...)...)
			if _, err := run(t, "", order{Exec: []string{path}}); err != nil {
				t.Skipf("this kernel does not start it without a filter: %v", err)
			}
			_, err := run(t, "", order{Filter: filter, Exec: []string{path}})
			var exit *exec.ExitError
			if !errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGSYS {
				t.Errorf("it was not killed by SIGSYS: %v", err)
			}
		})
	}
	path := executable(t, exit...)
	if _, err := run(t, "", order{Filter: filter, Exec: []string{path}}); err != nil {
		t.Errorf("a program that only ends: %v", err)
	}
}
