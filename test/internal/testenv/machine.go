package testenv

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// Counts are figures of the whole machine that must come back to what they were
// once no sandbox runs any more.
func Counts() map[string]int {
	namespaces := map[string]bool{}
	links, _ := filepath.Glob("/proc/[0-9]*/ns/*")
	held, _ := filepath.Glob("/proc/[0-9]*/fd/*")
	for _, l := range append(links, held...) {
		if target, err := os.Readlink(l); err == nil && isNamespace.MatchString(target) {
			namespaces[target] = true
		}
	}
	return map[string]int{
		"namespaces":   len(namespaces),
		"mounts":       Lines("/proc/self/mountinfo"),
		"unix sockets": unixSockets(),
	}
}

// isNamespace matches a link to a namespace: of a process that is in it, or of a descriptor.
var isNamespace = regexp.MustCompile(`^(cgroup|ipc|mnt|net|pid|time|user|uts):\[`)

// unixSockets counts those of this network namespace that no stranger holds, such as a
// daemon: what nobody holds is on its way in a message, and counts.
func unixSockets() int {
	found := map[string]bool{}
	table, _ := os.ReadFile("/proc/net/unix")
	for line := range strings.Lines(string(table)) { // Num RefCount Protocol Flags Type St Inode Path
		if words := strings.Fields(line); len(words) > 6 && words[6] != "0" && words[6] != "Inode" {
			found["socket:["+words[6]+"]"] = true
		}
	}
	ours := map[string]bool{strconv.Itoa(os.Getpid()): true}
	for _, p := range Below(os.Getpid()) {
		ours[strconv.Itoa(p.PID)] = true
	}
	processes, _ := filepath.Glob("/proc/[0-9]*")
	for _, dir := range processes {
		if ours[filepath.Base(dir)] || sandboxed(dir) {
			continue
		}
		links, _ := filepath.Glob(dir + "/fd/*")
		for _, l := range links {
			if target, err := os.Readlink(l); err == nil {
				delete(found, target)
			}
		}
	}
	return len(found)
}

// sandboxed tells whether a process has a user id that programs in a sandbox have on the
// host, and no daemon: one of ours, or nobody.
func sandboxed(dir string) bool {
	const first = 60_000
	status, _ := os.ReadFile(dir + "/status")
	_, ids, _ := strings.Cut(string(status), "\nUid:\t")
	word, _, _ := strings.Cut(ids, "\t")
	id, err := strconv.Atoi(word)
	return err == nil && id >= first
}

// Lines counts those of a file; one that cannot be read has none.
func Lines(name string) int {
	text, _ := os.ReadFile(name)
	return bytes.Count(text, []byte("\n"))
}

// Processes are the directories below /proc of processes with this name.
func Processes(comm string) (found []string) {
	names, _ := filepath.Glob("/proc/[0-9]*/comm")
	for _, name := range names {
		if text, err := os.ReadFile(name); err == nil && strings.TrimSpace(string(text)) == comm {
			found = append(found, filepath.Dir(name))
		}
	}
	return found
}

// Process is one of a tree.
type Process struct {
	PID    int
	Name   string
	Zombie bool
}

// Below are the processes below one, each before its children.
func Below(pid int) (found []Process) {
	tasks, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	for _, task := range tasks {
		children, _ := os.ReadFile(task)
		for _, word := range strings.Fields(string(children)) {
			child, err := strconv.Atoi(word)
			if err != nil {
				continue
			}
			stat, _ := os.ReadFile("/proc/" + word + "/stat") // PID (NAME) STATE …
			_, stat, _ = bytes.Cut(stat, []byte(" ("))
			name, state, _ := bytes.Cut(stat, []byte(") "))
			found = append(found, Process{child, string(name), bytes.HasPrefix(state, []byte("Z"))})
			found = append(found, Below(child)...)
		}
	}
	return found
}

// Groups counts the control groups of ours in every hierarchy, but those named sandbox-run,
// which all processes of ours share and which come and go with them.
func Groups() (n int) {
	_ = filepath.WalkDir("/sys/fs/cgroup", func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && d.Name() != "sandbox-run" && strings.Contains(path, "/sandbox-run") {
			n++
		}
		return nil
	})
	return n
}

// Entries counts the files and directories from those on that a pattern matches.
func Entries(pattern string) (n int) {
	paths, _ := filepath.Glob(pattern)
	for _, p := range paths {
		_ = filepath.WalkDir(p, func(_ string, _ fs.DirEntry, err error) error {
			if err == nil {
				n++
			}
			return nil
		})
	}
	return n
}
