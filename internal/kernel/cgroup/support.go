package cgroup

import (
	"fmt"
	"strings"
)

// Controller is something that a group can limit, count or do.
type Controller string

// The controllers, by the kernel's names.
const (
	Memory        Controller = "memory"
	CPU           Controller = "cpu"
	CPUAccounting Controller = "cpuacct" // version 2 counts without a controller
	PIDs          Controller = "pids"
	IO            Controller = "io" // blkio on version 1
	// Kill is the file cgroup.kill, which ends every process of a version 2
	// group at once, since Linux 5.14. It needs no controller.
	Kill Controller = "kill"
)

// controllers lists every [Controller].
func controllers() []Controller {
	return []Controller{Memory, CPU, CPUAccounting, PIDs, IO, Kill}
}

// CPUPeriodUS is the time, in microseconds, for which a CPU limit is a quota: the
// longest that the kernel takes (max_bw_quota_period_us in kernel/sched/core.c). With
// the usual 100 ms a program that starts with a burst of threads is stopped in every
// period, and a limit of one core makes Java start 50 % slower than none on two
// cores.
const CPUPeriodUS = 1_000_000

// Support tells how one controller can be used on this host.
type Support struct {
	// Version is 1 or 2, or 0 when the controller cannot be used.
	Version int
	// Reason says what stopped it; empty when it works.
	Reason string
	// Mend is the one command, or sentence, that makes it work; empty when it
	// does, or when nothing but another kernel helps.
	Mend string
}

// AbsentError says that a limit was asked for whose controller cannot be used.
type AbsentError struct {
	Controller Controller
	Support    Support
}

func (e *AbsentError) Error() string {
	s := fmt.Sprintf("no %s limit: %s", e.Controller, strings.TrimSuffix(e.Support.Reason, "."))
	if e.Support.Mend != "" {
		s += ". To mend it: " + e.Support.Mend
	}
	return s
}
