package remote

import "time"

// SetPatience changes how long the first server may take to answer.
func SetPatience(r *Runtime, d time.Duration) {
	e := r.endpoints[0]
	e.dial, e.quick, e.slow = d, d, d
}
