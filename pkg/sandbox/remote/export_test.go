package remote

import "time"

// Forget has the runtime ask again what its servers can do.
func Forget(r *Runtime) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.told = time.Time{}
}

// SetPatience changes how long the first server may take to answer.
func SetPatience(r *Runtime, d time.Duration) {
	e := r.endpoints[0]
	e.dial, e.quick, e.slow = d, d, d
}
