// Package seccomp compiles system-call policies to the classic BPF programs
// that the kernel's seccomp runs, and holds the policy of this project.
//
//	Default(Options) ──▶ Policy ──▶ Compile(policy, arch) ──▶ []Instruction ──▶ Marshal ──▶ bytes
//	                     names,                               binary search              struct sock_filter[]
//	                     conditions,                          over numbers
//	                     actions
//
// A [Policy] is data: rules by name, with conditions on arguments. [Compile]
// turns it into a program for an architecture, which need not be the one that it
// runs on: the tables of numbers are part of the package. Nothing here touches
// the kernel, so that all of it works on every operating system; whoever starts
// a program installs the filter, with no_new_privs set, as the last step before
// execve.
//
// The shape of a program:
//
//	arch != ours            → kill the process
//	number >= 0x40000000    → kill the process (amd64: the x32 interface)
//	binary search over ranges of numbers that share a verdict
//	  └─ verdict: an action, or a chain of conditions that ends in one
//
// Everything before the first look at an argument uses only the instructions
// that the kernel evaluates ahead (seccomp_is_const_allow in kernel/seccomp.c),
// so a call that is allowed whatever its arguments costs one look at a bitmap.
package seccomp
