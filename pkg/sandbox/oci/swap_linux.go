package oci

import (
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/sandbox-run/sandbox-run/internal/kernel/cgroup"
	"github.com/sandbox-run/sandbox-run/pkg/api"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// swappinessV1 is how much of a group of version 1 goes to swap while it is at its limit:
// nothing at 0 (mem_cgroup_swappiness in get_scan_count, mm/vmscan.c of Linux 6.18).
const swappinessV1 = "memory/memory.swappiness"

// swapsBeside tells whether programs may have swap beside their limit of memory: this
// machine has some, and its control groups neither bound it nor keep it from being used.
func (h host) swapsBeside() bool {
	if !cgroup.HasSwap(h.root) {
		return false
	}
	groups := strings.TrimPrefix(groupRoot, "/")
	has := func(patterns ...string) bool {
		return slices.ContainsFunc(patterns, func(pattern string) bool {
			found, _ := fs.Glob(h.root, path.Join(groups, pattern)) // the patterns are good
			return len(found) > 0
		})
	}
	if !h.unified {
		return !has("memory/memory.memsw.limit_in_bytes", swappinessV1)
	}
	// The root of all groups has no limits, and whichever other has one tells, be it the
	// root of a namespace. Where none has, nobody knows before the first container.
	return has("memory.max", "*/memory.max") && !has("memory.swap.max", "*/memory.swap.max")
}

// memoryRow describes the limit of memory.
func memoryRow(state, by string) sandbox.Mechanism {
	row := sandbox.Mechanism{Name: "limit:" + sandbox.LimitMemory, State: state, Detail: "memory and swap" + by}
	if state == api.Degraded {
		row.Detail, row.Mend = "memory"+by+", and as much swap as there is", cgroup.MendSwap
	}
	return row
}
