package daemon

import (
	"fmt"
	"os"
)

// watchSlack is how late the watch over our threads may be, in nanoseconds.
const watchSlack = "1000000"

// watchSeldom lets the thread by which Go's runtime watches over the others (sysmon in
// runtime/proc.go) sleep for longer than the 20 µs that it wants to while there is work: it
// takes a fifteenth of a core for looking whether a system call takes long, as ours do all the
// time, and what waits behind one loses less by waiting than by another thread's start. It is the
// first thread that the runtime starts. Without the right to this (CAP_SYS_NICE) it is as ever.
func watchSeldom() {
	threads, err := os.Open("/proc/self/task")
	if err != nil {
		return
	}
	defer threads.Close()
	if names, _ := threads.Readdirnames(2); len(names) == 2 { // in the order in which they were started
		_ = os.WriteFile(fmt.Sprintf("/proc/%s/timerslack_ns", names[1]), []byte(watchSlack), 0)
	}
}
