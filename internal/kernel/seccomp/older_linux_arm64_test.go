package seccomp

// olderCalls are those without a return that arm64 lacks.
func olderCalls() []uintptr { return nil }
