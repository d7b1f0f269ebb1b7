package cgroup

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// unified is the key of the version 2 tree in what parseMembership returns.
const unified = ""

// parseMembership reads /proc/<pid>/cgroup: the path of the process's group for
// each version 1 controller, and for the version 2 tree under [unified].
// The format is cgroups(7): hierarchy-ID:controller-list:path.
func parseMembership(data []byte) (map[string]string, error) {
	paths := map[string]string{}
	for line := range strings.Lines(string(data)) {
		line = strings.TrimSuffix(line, "\n")
		id, rest, ok := strings.Cut(line, ":")
		list, path, ok2 := strings.Cut(rest, ":")
		if !ok || !ok2 || !strings.HasPrefix(path, "/") {
			return nil, fmt.Errorf("line %q is not of the form id:controllers:/path", line)
		}
		if list == "" && id != "0" {
			continue // a version 1 tree without controllers and name: nothing for us
		}
		for name := range strings.SplitSeq(list, ",") {
			paths[name] = path
		}
	}
	return paths, nil
}

// mount is a mounted cgroup tree.
type mount struct {
	version     int
	point       string   // where it is mounted
	root        string   // which group of the tree is seen there
	controllers []string // of version 1, among other mount options
}

// parseMounts reads the cgroup mounts from /proc/<pid>/mountinfo, whose format
// is in proc_pid_mountinfo(5). A later mount at the same place hides an earlier
// one, of whatever kind.
func parseMounts(data []byte) ([]mount, error) {
	var mounts []mount
	for line := range strings.Lines(string(data)) {
		left, right, ok := strings.Cut(strings.TrimSuffix(line, "\n"), " - ")
		fields, tail := strings.Split(left, " "), strings.Split(right, " ")
		if !ok || len(fields) < 6 || len(tail) < 3 {
			return nil, fmt.Errorf("line %q is not of the form of mountinfo", line)
		}
		m := mount{point: unescape(fields[4]), root: unescape(fields[3])}
		mounts = slices.DeleteFunc(mounts, func(have mount) bool { return have.point == m.point })
		switch tail[0] {
		case "cgroup2":
			m.version = 2
		case "cgroup":
			m.version = 1
			m.controllers = strings.Split(tail[2], ",")
		default:
			continue
		}
		mounts = append(mounts, m)
	}
	return mounts, nil
}

// unescape undoes the kernel's \ooo for space, tab, newline and backslash.
func unescape(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+3 < len(s) {
			if c, err := strconv.ParseUint(s[i+1:i+4], 8, 8); err == nil {
				b.WriteByte(byte(c))
				i += 3
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// within returns the path of a group relative to the group that a mount shows,
// starting with a slash, or false when the mount does not show it. Paths with
// ".." lie outside the cgroup namespace and are not shown.
func within(path, root string) (string, bool) {
	if slices.Contains(strings.Split(path+"/"+root, "/"), "..") {
		return "", false
	}
	if root == "/" {
		return path, true
	}
	rel, ok := strings.CutPrefix(path, root)
	if !ok || rel != "" && rel[0] != '/' {
		return "", false
	}
	return "/" + strings.TrimPrefix(rel, "/"), true
}

// cutLine splits off the first line. The parsers below run on buffers of the
// caller's stack, which an iterator over lines would move to the heap.
func cutLine(data []byte) (line, rest []byte) {
	line, rest, _ = bytes.Cut(data, []byte{'\n'})
	return line, rest
}

// parseNumber reads a file that holds one number. The word max is not one.
func parseNumber(data []byte) (int64, bool) {
	n, err := strconv.ParseInt(string(bytes.TrimSpace(data)), 10, 64)
	if err != nil || n < 0 {
		return 0, false
	}
	return n, true
}

// keyed finds a number in a file of lines "key number".
func keyed(data []byte, key string) (int64, bool) {
	for len(data) > 0 {
		var line []byte
		line, data = cutLine(data)
		if name, value, ok := bytes.Cut(line, []byte{' '}); ok && string(name) == key {
			return parseNumber(value)
		}
	}
	return 0, false
}

// ioBytes adds up io.stat of version 2: lines "8:0 rbytes=1 wbytes=2 …".
func ioBytes(data []byte) (read, written int64) {
	for _, field := range bytes.Fields(data) {
		name, value, _ := bytes.Cut(field, []byte{'='})
		n, ok := parseNumber(value)
		switch {
		case !ok:
		case string(name) == "rbytes":
			read = addSaturating(read, n)
		case string(name) == "wbytes":
			written = addSaturating(written, n)
		}
	}
	return read, written
}

// blkioBytes adds up blkio.throttle.io_service_bytes of version 1: lines
// "8:0 Read 1", "8:0 Write 2", and others.
func blkioBytes(data []byte) (read, written int64) {
	for len(data) > 0 {
		var line []byte
		line, data = cutLine(data)
		fields := bytes.Fields(line)
		if len(fields) != 3 {
			continue
		}
		n, ok := parseNumber(fields[2])
		switch {
		case !ok:
		case string(fields[1]) == "Read":
			read = addSaturating(read, n)
		case string(fields[1]) == "Write":
			written = addSaturating(written, n)
		}
	}
	return read, written
}

func addSaturating(a, b int64) int64 {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

// parsePIDs reads cgroup.procs. Processes of another pid namespace are shown as
// 0 and left out: they have no number that we could use.
func parsePIDs(data []byte) []int {
	var pids []int
	for len(data) > 0 {
		var line []byte
		line, data = cutLine(data)
		if n, ok := parseNumber(line); ok && n > 0 && n <= math.MaxInt32 {
			pids = append(pids, int(n))
		}
	}
	return pids
}
