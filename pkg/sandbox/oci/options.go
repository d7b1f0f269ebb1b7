package oci

// Options say which runtime to drive and where to keep what it needs.
type Options struct {
	// Program is the runtime: a name that is looked up on PATH, or a path. Empty
	// means the first of crun and runc that is there.
	Program string
	// Args are put before the runtime's verb, e.g. --platform=systrap of runsc.
	Args []string
	// RuntimeDir holds the files that tell which processes of ours are alive. Empty
	// means /run/sandbox-run, which all runtimes share.
	RuntimeDir string
}
