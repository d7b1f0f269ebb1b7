package sandboxtest

import (
	"bytes"
	"errors"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/sandbox-run/sandbox-run/internal/lockfile"
	"github.com/sandbox-run/sandbox-run/pkg/api"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// shared are files and directories of every container that could be the host's, or
// another container's: devices, what is masked, what of /etc is copied, the roots of
// mounts.
var shared = []string{
	"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/ptmx", "/dev", "/dev/pts", "/dev/shm",
	"/proc/kallsyms", "/proc/kcore", "/proc/keys", "/proc/timer_list", "/proc/tty", "/proc/sys", "/proc/version",
	"/", "/etc", "/etc/passwd", "/etc/hosts", "/etc/ld.so.cache", "/etc/alternatives", "/usr", "/usr/bin", "/bin/sh", "/tmp", "/workspace",
	"/.sandbox-run", "/.sandbox-run/init",
}

// namespaces are the files of a process's own. A kernel before 5.6 has none for time.
var namespaces = []string{
	"/proc/self/ns/cgroup", "/proc/self/ns/ipc", "/proc/self/ns/mnt", "/proc/self/ns/net", "/proc/self/ns/pid",
	"/proc/self/ns/time", "/proc/self/ns/user", "/proc/self/ns/uts",
}

// locks go by inode, as inotify watches and leases do: none that a program takes is
// seen in another container or on the host. What cannot be opened is told apart by
// its number.
func (s *suite) locks() {
	a, b := s.create(s.spec()), s.create(s.spec())
	if state := a.Isolation().Mechanisms["devices"]; state != api.Enforced {
		s.Skipf("devices is %s: their inodes are the host's", state)
	}
	if e := s.sh(a, "command -v flock; command -v stat"); strings.Count(e.stdout, "\n") != 2 {
		s.Skip("no flock and stat in the root")
	}
	shared := shared
	if s.ownNamespaces {
		shared = append(slices.Clone(shared), namespaces...)
	}
	take := shell(`for f in "$@"; do [ ! -r "$f" ] || { flock -n 9 && echo "$f"; sleep 1000 & } 9<"$f"; done; echo ready; wait`)
	take.Args = append(append(take.Args, "sh"), shared...)
	held := make(chan string, 1)
	var lines bytes.Buffer
	take.Stdout = writerFunc(func(b []byte) {
		lines.Write(b)
		if taken, ok := strings.CutSuffix(lines.String(), "ready\n"); ok {
			held <- taken
		}
	})
	running, err := a.Start(s.Context(), take)
	if err != nil {
		s.Fatal(err)
	}
	taken := <-held
	try := shell(`for f in "$@"; do [ ! -r "$f" ] || { flock -n 9 && echo "$f"; } 9<"$f"; done`)
	try.Args = append(append(try.Args, "sh"), shared...)
	names, free := strings.Fields(taken), strings.Fields(s.run(b, try).stdout)
	if !slices.Contains(names, "/etc/passwd") {
		s.Errorf("locks of the first: %q", names)
	}
	for _, name := range names { // what is masked may be one with what was locked before
		if !slices.Contains(free, name) {
			s.Errorf("the lock of %s is seen in another container", name)
		}
		if err := lockOfHost(name); err != nil {
			s.Errorf("on the host: %v", err)
		}
	}
	if err := errors.Join(running.Kill(), waited(running)); err != nil {
		s.Error(err)
	}
	const numbers = "stat -c %d:%i /dev/tty /dev/null"
	first := s.sh(a, numbers).stdout
	if !ownKernel(a) && (strings.Count(first, ":") != 2 || first == s.sh(b, numbers).stdout) {
		s.Errorf("both containers have the devices %q", first)
	}
}

func waited(r sandbox.Running) error {
	_, err := r.Wait()
	return err
}

// lockOfHost takes a lock and gives it back. What this host does not have is no error.
func lockOfHost(name string) error {
	f, err := os.Open(name)
	if err != nil {
		return nil
	}
	defer f.Close()
	if err := lockfile.Try(f, true); err != nil {
		return &os.PathError{Op: "flock", Path: name, Err: err}
	}
	return nil
}

// RunTerminals tests that one container has 64 terminals and no more, of those that
// are everybody's on this machine. Not every runtime can be told to.
func RunTerminals(t *testing.T, rt sandbox.Runtime) {
	s := &suite{T: t, rt: rt, level: sandbox.LevelFull}
	p := shell(`n=0; while [ $n -lt 100 ]; do { exec {fd}<>/dev/ptmx; } 2>/dev/null || break; n=$((n+1)); done; echo $n; sleep 1000`)
	p.Args[0] = "/bin/bash"
	for range 2 { // of which neither takes what the other may have
		opened := make(chan string, 1)
		p.Stdout = writerFunc(func(b []byte) { opened <- string(b) })
		if _, err := s.create(s.spec()).Start(s.Context(), p); err != nil {
			s.Fatal(err)
		}
		s.equal("terminals of one container", <-opened, "64\n")
	}
	f, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		s.Fatalf("the host has none left: %v", err)
	}
	f.Close()
}
