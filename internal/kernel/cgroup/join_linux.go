package cgroup

import "os"

// V2Dir is the directory of the group in the version 2 tree, for clone3 with
// CLONE_INTO_CGROUP; false when there is no such tree. It stays valid until
// [Group.CloseJoinFiles] or [Group.Delete].
func (g *Group) V2Dir() (*os.File, bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.dir, g.dir != nil
}

// TasksFiles are the version 1 files, open for writing, to which the thread
// that is about to fork writes "0": it and its next child are then in the
// group. After the fork it writes "0" to each of [Hierarchy.HomeTasksFiles].
// While it is inside it counts: a group that may have one process needs a limit
// of two until the forking thread is home. The files stay valid until
// [Group.CloseJoinFiles] or [Group.Delete].
func (g *Group) TasksFiles() []*os.File {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.tasks
}

// HomeTasksFiles are the version 1 files, open for writing, by which a thread
// returns to the groups that this process was in when Detect looked.
func (h *Hierarchy) HomeTasksFiles() []*os.File {
	var files []*os.File
	for _, t := range h.trees {
		if t.home != nil {
			files = append(files, t.home)
		}
	}
	return files
}

// CloseJoinFiles closes what only joining needs, when nobody joins any more.
func (g *Group) CloseJoinFiles() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.dir != nil {
		g.dir.Close()
	}
	for _, f := range g.tasks {
		f.Close()
	}
	g.dir, g.tasks = nil, nil
}
