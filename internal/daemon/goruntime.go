package daemon

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

// collectSeldom has Go's collector wait until there is five times what was live, but for at most
// 64 MiB more: a server is a few megabytes, which else are looked through at every tenth run. What
// large requests make live is collected as often as anywhere.
func collectSeldom() {
	const usual, seldom, spare = 100, 400, 64 << 20
	live := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	percent := 0
	var again func(struct{})
	again = func(struct{}) { // after each collection, which takes what nobody holds
		metrics.Read(live)
		if now := int(min(max(spare*100/max(live[0].Value.Uint64(), 1), usual), seldom)); now != percent {
			percent = now
			debug.SetGCPercent(percent)
		}
		runtime.AddCleanup(new([64]byte), again, struct{}{})
	}
	again(struct{}{})
}

// cores is how many there are for runs: those that this process may use, whatever GOMAXPROCS says,
// which is about our own goroutines.
var cores = func() int {
	own := runtime.GOMAXPROCS(0)
	runtime.SetDefaultGOMAXPROCS()
	defer runtime.GOMAXPROCS(own)
	return runtime.GOMAXPROCS(0)
}()
