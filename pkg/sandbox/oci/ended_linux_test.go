package oci

import (
	"errors"
	"testing"
	"testing/fstest"

	"golang.org/x/sys/unix"

	"github.com/sandbox-run/sandbox-run/internal/kernel/spawn"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// TestWhoKilledInit: a runtime that passes on that init was killed tells of the program's
// memory, unless the kernel has killed nobody on this machine meanwhile.
func TestWhoKilledInit(t *testing.T) {
	for name, c := range map[string]struct {
		before, after string // the machine's oom_kill
		code          int
		memory        int64
		kills         int64
		again         bool // or another error
	}{
		"for memory":                     {"7", "8", killed, 64 << 20, 1, false},
		"and another one for memory":     {"7", "9", killed, 64 << 20, 1, false},
		"from outside":                   {"7", "7", killed, 64 << 20, 0, true},
		"from outside, and no limit":     {"7", "7", killed, 0, 0, true},
		"for memory, and no limit":       {"7", "8", killed, 0, 0, false},
		"by a kernel that does not tell": {"", "", killed, 64 << 20, 1, false},
		"by one with another count":      {"?", "?", killed, 64 << 20, 1, false},
		"it ended by itself":             {"7", "8", 1, 64 << 20, 0, false},
	} {
		vmstat := &fstest.MapFile{}
		count := func(n string) {
			vmstat.Data = []byte("nr_free_pages 1\ndrop_pagecache 0\noom_kill_other 3\n")
			if n != "" {
				vmstat.Data = append(vmstat.Data, "oom_kill "+n+"\nnuma_hit 2\n"...)
			}
		}
		e := &engine{
			b: &bundle{host: host{root: fstest.MapFS{"proc/vmstat": vmstat}}}, conn: &pipes{}, exited: make(chan struct{}),
			status: spawn.WaitStatus(c.code << 8),
		}
		close(e.exited)
		count(c.before)
		_ = e.setLimits(t.Context(), sandbox.Limits{MemoryBytes: c.memory}) // there is no such group
		count(c.after)
		e.lift() // who does that may not know yet that init has ended
		exit, err := e.ended()
		if exit.OOMKills != c.kills || (err == nil) != (c.kills > 0) || errors.Is(err, unix.EAGAIN) != c.again {
			t.Errorf("%s: %+v, %v", name, exit, err)
		}
	}
	if n := (host{root: fstest.MapFS{}}).oomKills(); n != unknown {
		t.Errorf("%d without a file that tells", n)
	}
}
