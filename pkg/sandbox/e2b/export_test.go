package e2b

import "time"

// WatchScript tells the watcher's requests from others.
const WatchScript = watchScript

// LaunchScript tells those that start a program.
const LaunchScript = launchScript

// SweepScript tells those that kill.
const SweepScript = sweepScript

// SetIdle changes how long a stream may be silent.
func SetIdle(r *Runtime, d time.Duration) { r.idle = d }

// SetLate changes how long the stream of what was killed may go on.
func SetLate(r *Runtime, d time.Duration) { r.late = d }

// Die gives up what a runtime's process would, if it were killed.
func Die(r *Runtime) {
	if r.instance.file != nil {
		r.instance.file.Close()
	}
}
