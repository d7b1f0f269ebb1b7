package docker

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"
)

// maker names this process for whoever finds a container of its making: this life of
// this machine, the namespace of process numbers, the number, and when it began. It is
// empty where /proc does not tell.
func maker() string {
	began, err := beginning(os.Getpid())
	if err != nil {
		return ""
	}
	return fmt.Sprintf("%s %d %s", numberedBy(), os.Getpid(), began)
}

// numberedBy is what the numbers of processes mean something in.
func numberedBy() string {
	boot, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	namespace, _ := os.Readlink("/proc/self/ns/pid")
	return string(bytes.TrimSpace(boot)) + " " + namespace
}

// beginning is when a process began, in ticks of the machine's clock.
func beginning(pid int) (string, error) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return "", err
	}
	// Behind the name, which may hold anything: state is the third field, this the 22nd.
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	if len(fields) < 20 {
		return "", fmt.Errorf("/proc/%d/stat has %d fields", pid, len(fields))
	}
	return fields[19], nil
}

// died tells whether the process that a label names is known to be dead: it was one of
// those that we can see.
func died(label string) bool {
	own, ok := strings.CutPrefix(label, numberedBy()+" ")
	number, began, _ := strings.Cut(own, " ")
	pid, err := strconv.Atoi(number)
	if !ok || err != nil {
		return false
	}
	now, err := beginning(pid)
	if errors.Is(err, fs.ErrNotExist) {
		_, hidden := beginning(1) // as others' processes are, where proc(5) has hidepid
		return hidden == nil
	}
	return err == nil && now != began
}
