package posture

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/sandbox-run/sandbox-run/internal/kernel/cgroup"
	"github.com/sandbox-run/sandbox-run/internal/kernel/landlock"
)

// outside looks at the prober from the host, which programs cannot deceive: by the name of its
// program, which no other process of the host has. What it returns looks at who has started the
// prober, whose descriptors are its own again only some time after that.
func (p *Posture) outside(token string) (init func()) {
	pid := find(token)
	if pid == 0 {
		p.add("outside", "not seen") // another kernel's, or another machine's
		return func() {}
	}
	p.add("outside", "seen")
	p.held(pid)
	own, _ := statusOf(os.Getpid()) // else nothing is as ours
	parent, err := strconv.Atoi(p.host("process", pid, own)["PPid"])
	return func() {
		if err != nil {
			p.add("outside init", "%v", err)
			return
		}
		p.host("init", parent, own)
	}
}

// find finds the process of the host that has a token in its arguments, or 0.
func find(token string) (pid int) {
	files, _ := filepath.Glob("/proc/[0-9]*/cmdline") // the pattern is a good one
	for _, file := range files {
		words, err := os.ReadFile(file)
		if n, number := strconv.Atoi(filepath.Base(filepath.Dir(file))); err == nil && number == nil && bytes.Contains(words, []byte(token)) {
			pid = n
		}
	}
	return pid
}

// held are the limits of the process's control groups.
func (p *Posture) held(pid int) {
	v, err := cgroup.ViewOf(pid)
	if err != nil {
		p.add("outside limits", "%v", err)
		return
	}
	p.add("outside memory", "%s", mebibytes(v.MemoryBytes))
	p.add("outside processes", "%d", v.Processes)
	p.add("outside cores", "%g", v.CPUs)
}

// host is what the host's /proc says of a process: whose it is, what it may, which of our
// namespaces it is in, and what it has open. It returns its status, and is given ours.
func (p *Posture) host(who string, pid int, own map[string]string) map[string]string {
	status, err := statusOf(pid)
	if err != nil {
		p.add("outside "+who, "%v", err)
		return nil
	}
	p.add("outside "+who+" user", "%s", whose(status["Uid"], os.Geteuid()))
	p.add("outside "+who+" group", "%s", whose(status["Gid"], os.Getegid()))
	for _, key := range []string{"Groups", "CapEff", "CapBnd", "NoNewPrivs", "Seccomp"} {
		value := strings.Join(strings.Fields(status[key]), " ")
		if slices.Contains(capabilities, key) && value == own[key] && strings.Trim(value, "0") != "" {
			value = "as ours" // which are another machine's others
		}
		p.add("outside "+who+" "+key, "%s", value)
	}
	p.add("outside "+who+" namespaces of ours", "%s", ours(pid))
	p.add("outside "+who+" descriptors", "%s", descriptors(pid))
	return status
}

// ofOurs is what we have ourselves. What cannot be read is taken for what lets a sandbox have
// the least excuse.
func ofOurs() own {
	status, err := statusOf(os.Getpid())
	held, err2 := strconv.ParseUint(status["CapEff"], 16, 64)
	if err != nil || err2 != nil {
		held = allBits
	}
	has := func(capability int) bool { return held>>capability&1 == 1 }
	version, _ := landlock.ABI() // 0 with an error: there is none
	return own{mayBound: has(unix.CAP_SETPCAP), mayTrace: has(unix.CAP_SYS_PTRACE), landlock: version}
}

// statusOf reads /proc/PID/status.
func statusOf(pid int) (map[string]string, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	lines := map[string]string{}
	for line := range strings.Lines(string(text)) {
		key, value, _ := strings.Cut(line, ":")
		lines[key] = strings.TrimSpace(value)
	}
	return lines, err
}

// whose tells of the four ids of a process, in the host's numbers, whose they are.
func whose(ids string, own int) string {
	list := slices.Compact(strings.Fields(ids))
	switch {
	case len(list) != 1:
		return "several"
	case list[0] == "0":
		return "root"
	case list[0] == strconv.Itoa(own):
		return "ours"
	}
	return "its own"
}

// ours are the kinds of namespaces that a process has in common with us.
func ours(pid int) string {
	var kinds []string
	for _, kind := range namespaceKinds {
		own, err := os.Readlink("/proc/self/ns/" + kind)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		theirs, err2 := os.Readlink(fmt.Sprintf("/proc/%d/ns/%s", pid, kind))
		switch {
		case err2 != nil:
			return reason(err2)
		case own == theirs:
			kinds = append(kinds, kind)
		}
	}
	return strings.Join(kinds, " ")
}

// descriptors are the kinds of what a process has open, each with how many. What it closes while
// it is looked at does not count; where nothing is left, the process itself may be gone.
func descriptors(pid int) string {
	dir := fmt.Sprintf("/proc/%d/fd/", pid)
	entries, err := os.ReadDir(dir)
	if err != nil {
		return reason(err)
	}
	kinds := map[string]int{}
	for _, e := range entries {
		kind, err := os.Readlink(dir + e.Name())
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case err != nil:
			kind = reason(err)
		}
		if name, _, numbered := strings.Cut(kind, ":["); numbered { // pipe:[4026531836]
			kind = name
		}
		kinds[kind]++
	}
	if len(kinds) == 0 && len(entries) > 0 {
		return name(syscall.ENOENT)
	}
	var list []string
	for kind, n := range kinds {
		list = append(list, fmt.Sprintf("%d %s", n, kind))
	}
	return strings.Join(sorted(list), ", ")
}

// reason is an error's number by its name.
func reason(err error) string {
	var errno syscall.Errno
	if errors.As(err, &errno) {
		return name(errno)
	}
	return err.Error()
}
