package cgroup

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// The groups of a version 2 host that are not the root: what an ordinary user
// has in a delegated scope, and a container's root has in its namespace.

const nobody = 65534

func TestDelegation(t *testing.T) {
	for _, c := range []struct {
		name    string
		what    string
		give    bool // the group belongs to the user
		company bool // another process lives in the group
		attr    unix.SysProcAttr
		want    []string
	}{
		{"user with a scope", "own", true, false, unix.SysProcAttr{Credential: user()},
			[]string{"memory 2", "pids 2", "cpu 2", "kill 2", "OOM kills: true", "left: []"}},
		{"user with company", "own", true, true, unix.SysProcAttr{Credential: user()},
			[]string{"memory 0: ", "pids 0: ", "other processes are in our own group", "systemd-run --user --scope -p Delegate=yes", "kill 2", "type: domain\n"}},
		{"user without delegation", "own", false, false, unix.SysProcAttr{Credential: user()},
			[]string{"memory 0: ", "permission denied", "systemd-run --user --scope -p Delegate=yes", "kill 0"}},
		{"container, only process", "mount", false, false, container(),
			[]string{"memory 2", "pids 2", "cpu 2", "kill 2", "OOM kills: true", "left: []"}},
		{"container with company", "mount", false, true, container(),
			[]string{"memory 0: ", "other processes are in our own group"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			out := runDelegated(t, c.what, c.give, c.company, c.attr)
			for _, want := range c.want {
				if !strings.Contains(out, want) {
					t.Errorf("no %q in:\n%s", want, out)
				}
			}
		})
	}
}

func user() *syscall.Credential {
	return &syscall.Credential{Uid: nobody, Gid: nobody, NoSetGroups: false}
}

func container() unix.SysProcAttr {
	return unix.SysProcAttr{Unshareflags: unix.CLONE_NEWNS | unix.CLONE_NEWCGROUP}
}

// runDelegated runs the helper of that name as the first process of a new group
// and returns its output. Everything in the group is gone afterwards.
func runDelegated(t *testing.T, what string, give, company bool, attr unix.SysProcAttr) string {
	t.Helper()
	h := live(t)
	tr := h.trees[0]
	if !tr.has(Memory) || tr.version != 2 {
		t.Skip("needs a host whose controllers are version 2")
	}
	g := create(t, h, "scope", Limits{})
	path := tr.parent + "/scope"
	t.Cleanup(func() { _ = g.Kill(); _ = g.WaitEmpty(t.Context()); _ = tr.removeAll(path) })
	if give {
		for _, file := range []string{"", "/cgroup.procs", "/cgroup.subtree_control"} {
			if err := unix.Fchownat(tr.base.fd(), path+file, nobody, nobody, 0); err != nil {
				t.Fatal(err)
			}
		}
	}
	if company {
		startIn(t, g, again("sleep"))
	}
	dir, _ := g.V2Dir()
	attr.UseCgroupFD, attr.CgroupFD = true, int(dir.Fd())
	cmd := exec.Command("/proc/self/exe")
	cmd.Env = []string{helperEnv + "=delegated " + what}
	cmd.SysProcAttr = &attr
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v:\n%s", err, &out)
	}
	return out.String()
}

// delegated prints what Detect finds, and runs a program into its memory limit
// where there is one.
func delegated(what string) int {
	if what == "mount" {
		// In a mount namespace of its own, as a container's runtime does it.
		err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, "")
		if err == nil {
			err = errors.Join(unix.Unmount("/sys/fs/cgroup", unix.MNT_DETACH), unix.Mount("cgroup", "/sys/fs/cgroup", "cgroup2", 0, ""))
		}
		if err != nil {
			fmt.Println("mount:", err)
			return 3
		}
	}
	h, err := Detect(Options{})
	if err != nil {
		fmt.Println(err)
		return 3
	}
	defer h.Close()
	for c, s := range h.Controllers() {
		fmt.Printf("%s %d: %s; %s\n", c, s.Version, s.Reason, s.Mend)
	}
	if len(h.trees) > 0 {
		kind, _ := os.ReadFile(h.trees[0].base.Name() + "/cgroup.type")
		fmt.Printf("type: %s", kind)
	}
	if h.Controllers()[Memory].Version == 2 {
		if err := delegatedRun(h); err != nil {
			fmt.Println(err)
			return 3
		}
	}
	return 0
}

func delegatedRun(h *Hierarchy) error {
	s, err := h.Scope("run", "run-share", -1)
	if err != nil {
		return err
	}
	g, err := s.Create("run-1", Limits{MemoryBytes: 64 * mib, Processes: 20, CPUs: 1})
	if err != nil {
		return err
	}
	dir, _ := g.V2Dir()
	cmd := again("eat 200")
	cmd.SysProcAttr = &unix.SysProcAttr{UseCgroupFD: true, CgroupFD: int(dir.Fd())}
	if err := cmd.Run(); err == nil {
		return errors.New("200 MiB fit into 64")
	}
	got, err := g.Stats()
	fmt.Printf("OOM kills: %v at limit: %v\n", got.OOMKills.Value > 0, got.MemoryAtLimit)
	err = errors.Join(err, g.Delete(), s.Delete())
	again, err2 := Detect(Options{}) // from the group that we have moved to
	if err = errors.Join(err, err2); err != nil {
		return err
	}
	defer again.Close()
	left, err := again.Reclaim("run")
	fmt.Println("left:", left)
	if again.Controllers()[Memory].Version != 2 {
		err = errors.Join(err, errors.New("the second Detect does not find the same"))
	}
	_ = os.Stdout.Sync()
	return err
}
