package local

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
)

// maxTasks is how many processes and threads of a run are gone through for its memory, which
// takes a sixth of a second: one that has more could grow unseen while they are.
const maxTasks = 1 << 14

// descendants lists what runs below a process of the host. An error says that there is more.
func descendants(root int) (pids []int, more error) {
	all := []int{root}
	tasks := 0
	for i := 0; i < len(all); i++ {
		dir := tasksOf(all[i])
		for _, thread := range threadsIn(dir) {
			if tasks++; tasks > maxTasks {
				return all[1:], fmt.Errorf("it has more than %d processes and threads, and no control group counts them", maxTasks)
			}
			all = append(all, childrenOf(dir, thread)...)
		}
	}
	return all[1:], nil
}

// tasksOf is the directory of a process's threads.
func tasksOf(pid int) string { return fmt.Sprintf("/proc/%d/task", pid) }

// threadsIn lists the threads of a process that may have gone.
func threadsIn(tasks string) (ids []int) {
	dir, err := os.Open(tasks)
	if err != nil {
		return nil
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(-1)
	for _, name := range names {
		if id, err := strconv.Atoi(name); err == nil {
			ids = append(ids, id)
		}
	}
	return ids
}

// childrenOf lists the children that a thread has forked.
func childrenOf(tasks string, thread int) (pids []int) {
	list, _ := os.ReadFile(filepath.Join(tasks, strconv.Itoa(thread), "children"))
	for _, field := range bytes.Fields(list) {
		if pid, err := strconv.Atoi(string(field)); err == nil {
			pids = append(pids, pid)
		}
	}
	return pids
}
