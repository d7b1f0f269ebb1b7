package sandbox

// DenialTracer is implemented by runtimes that can tell which system calls of a process
// their filter has denied ([Process.TraceDenied]).
type DenialTracer interface {
	// CanTraceDenied tells why they cannot at a level, or nil.
	CanTraceDenied(Level) error
}
