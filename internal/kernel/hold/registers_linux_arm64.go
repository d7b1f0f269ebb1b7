package hold

import "golang.org/x/sys/unix"

// Supported tells whether this architecture has it: nobody has tried it here.
const Supported = false

func speaksCalls(unix.PtraceRegs) bool { return false }

func otherwise(r unix.PtraceRegs, _, _ uint64) unix.PtraceRegs { return r }

func again(r unix.PtraceRegs) unix.PtraceRegs { return r }

func next(r unix.PtraceRegs, _, _, _, _ uint64) unix.PtraceRegs { return r }

func result(unix.PtraceRegs) int64 { return 0 }
