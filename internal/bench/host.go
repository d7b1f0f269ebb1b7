package bench

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"
)

// Host says on what machine something is measured.
func Host() string {
	processor, memory := runtime.GOARCH, ""
	if text, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		if _, name, found := strings.Cut(string(text), "model name\t: "); found {
			processor, _, _ = strings.Cut(name, "\n")
		}
	}
	if text, err := os.ReadFile("/proc/meminfo"); err == nil {
		if words := strings.Fields(string(text)); len(words) > 1 {
			kib, _ := strconv.ParseInt(words[1], 10, 64)
			memory = fmt.Sprintf(", %d GiB", (kib+1<<19)>>20)
		}
	}
	kernel, _ := os.ReadFile("/proc/sys/kernel/osrelease")
	return fmt.Sprintf("%s, %d cores%s, Linux %s", processor, runtime.NumCPU(), memory, strings.TrimSpace(string(kernel)))
}

// tick is the unit of /proc/stat, which is the same for every program.
const tick = 10 * time.Millisecond

// Busy is how long the machine's processors have worked, all of them together: proc_stat(5).
func Busy() (time.Duration, error) {
	const idle, iowait = 3, 4
	ticks, err := processors()
	if err != nil {
		return 0, err
	}
	var sum time.Duration
	for i, n := range ticks {
		if i != idle && i != iowait && i != steal {
			sum += n
		}
	}
	return sum, nil
}

// Interrupts is how long processors have served them, which is nobody's CPU time.
func Interrupts() (time.Duration, error) {
	const irq, softirq = 5, 6
	ticks, err := processors()
	if err != nil {
		return 0, err
	}
	return ticks[irq] + ticks[softirq], nil
}

// Stolen is how long processors would have worked while the machine below this one gave them to
// others.
func Stolen() (time.Duration, error) {
	ticks, err := processors()
	if err != nil {
		return 0, err
	}
	return ticks[steal], nil
}

// steal is the last of what processors tells: user, nice, system, idle, iowait, irq, softirq, steal.
const steal = 7

func processors() (spent [steal + 1]time.Duration, err error) {
	text, err := os.ReadFile("/proc/stat")
	if err != nil {
		return spent, err
	}
	line, _, _ := strings.Cut(string(text), "\n")
	fields := strings.Fields(strings.TrimPrefix(line, "cpu"))
	if len(fields) < len(spent) {
		return spent, fmt.Errorf("/proc/stat does not tell how long processors have worked: %q", line)
	}
	for i := range spent {
		n, err := strconv.ParseInt(fields[i], 10, 64)
		if err != nil {
			return spent, fmt.Errorf("/proc/stat: %w", err)
		}
		spent[i] = time.Duration(n) * tick
	}
	return spent, nil
}
