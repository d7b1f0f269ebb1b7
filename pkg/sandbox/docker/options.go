package docker

// Options say which engine to use, and how.
type Options struct {
	// Host is the engine's address, as DOCKER_HOST has it; empty means that variable,
	// the current context of the docker command, or the usual socket.
	Host string
	// Image is the root of containers that ask for none.
	Image string
	// Runtime is an OCI runtime that the engine knows, such as runsc or kata; empty
	// means its default.
	Runtime string
	// CPULimit and MemoryLimitBytes are the most that a container gets, whatever is
	// asked for; 0 means no such ceiling.
	CPULimit         float64
	MemoryLimitBytes int64
	// Getenv reads the environment, for the variables of the docker command
	// (DOCKER_HOST, DOCKER_CONTEXT, DOCKER_CONFIG, HOME); nil means that there is none.
	Getenv func(name string) string
	// Notify is told of slow preparations, such as pulling an image; it may be nil.
	Notify func(message string)
}
