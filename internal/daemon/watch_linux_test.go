package daemon

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// TestWatchSeldom: the thread that may sleep longer is the one that does sleep, as others of
// Go's do once in a while at most, for 3 µs.
func TestWatchSeldom(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only with the right to another thread's timers (CAP_SYS_NICE)")
	}
	watchSeldom()
	sleeping, all := map[string]int{}, 0 // by their slack
	for range 2000 {
		threads, err := os.ReadDir("/proc/self/task")
		if err != nil {
			t.Fatal(err)
		}
		for _, thread := range threads {
			call, _ := os.ReadFile(fmt.Sprintf("/proc/self/task/%s/syscall", thread.Name())) // it may have ended
			if number, _, _ := strings.Cut(string(call), " "); number != strconv.Itoa(unix.SYS_NANOSLEEP) {
				continue
			}
			slack, err := os.ReadFile(fmt.Sprintf("/proc/%s/timerslack_ns", thread.Name()))
			if errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ESRCH) { // so may the one that was just seen
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			sleeping[strings.TrimSpace(string(slack))]++
			all++
		}
	}
	if all == 0 || 10*sleeping[watchSlack] < 9*all {
		t.Errorf("threads were seen asleep, by how late they may wake in nanoseconds: %v; want hardly any but at %s", sleeping, watchSlack)
	}
}
