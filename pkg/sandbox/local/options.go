package local

// Options say where a [Runtime] keeps what it needs.
type Options struct {
	// RuntimeDir holds the files that tell which processes of ours are alive.
	// Empty means /run/sandbox-run for root, and a directory of the user's own
	// otherwise.
	RuntimeDir string
	// NoCgroups leaves control groups alone, as on a host that grants none.
	NoCgroups bool
}
