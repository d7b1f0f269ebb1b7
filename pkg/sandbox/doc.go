// Package sandbox is the vocabulary of isolation.
//
// A [Runtime] is one isolation technology. It makes a [Container] from a
// [Spec]; in the container one or more [Process]es run, each under [Limits] of
// its own; each ends with an [Exit]. A runtime is mechanism only: it knows
// nothing of languages, timeouts or verdicts. [Manager] adds what is the same
// for every runtime: wall clock and CPU time, the graceful end, the registry of
// what is alive.
//
//	Spec ──▶ Runtime.Create ──▶ Container ──▶ Start(Process) ──▶ Running ──▶ Exit
//	                               │                              │
//	                               FileTree (files in and out)  Metrics (live)
//
// What a runtime cannot do it says in its [Capabilities]; what a caller demands
// and the runtime cannot enforce is an error before any code runs.
package sandbox
