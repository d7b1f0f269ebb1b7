// Package cgroup puts processes into control groups and reads what the kernel
// counted there: version 2, version 1, and hosts that have both.
//
// A control group is a directory. On version 2 there is one tree; on version 1
// there is a tree for each controller (or for a few that are mounted together);
// a hybrid host has version 1 trees for its limits and a version 2 tree beside
// them, in which a group can still be killed at one blow. [Detect] finds for
// each controller the directory below which groups may be made, [Hierarchy.Create]
// makes one [Group] in all the trees, and the rest of the package does not let
// the difference show.
//
//	/sys/fs/cgroup/…/          the base: our own group, or the root
//	  sandbox-run/             made once, controllers enabled
//	    <name>/                a Group; on the way there may be a share and a Scope
//	  sandbox-run.self/        version 2, no root: where we moved ourselves
//
// # Joining
//
// A process must be born inside its group: moving it there afterwards waits for
// a grace period of RCU, 7 ms on an idle machine, because cgroup.procs takes
// the lock that every fork holds. On version 2 clone3 does it, given the
// directory of [Group.V2Dir]. On version 1 the thread that is about to fork
// writes "0" to each of [Group.TasksFiles], forks, and writes "0" to each of
// [Hierarchy.HomeTasksFiles]: for a thread that moves itself by the tasks file
// the kernel takes no such lock, and it costs 5 to 15 µs a tree. Both files are
// opened here because version 1 checks the rights of whoever opened them.
//
// # Safety
//
// Only directories named sandbox-run (or [Options].Parent), or below, are ever
// made or removed, and no process but our own is ever moved. A limit that
// cannot be written is an error, never a group without it.
package cgroup
