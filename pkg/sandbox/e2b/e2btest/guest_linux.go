package e2btest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// guestOptions are what a sandbox's init is told, as JSON in guestVariable.
type guestOptions struct {
	Serial     int
	Token      string
	Internet   bool
	EndsAtOnce bool
	// What envd has, by its version.
	StdinFlag, OctetStream bool
	// Holds are where the directories of [Server.Holds] are, and Env is what envd
	// gives every process.
	Holds []string
	Env   map[string]string

	Envd bool // the second step
}

const guestVariable = "E2BTEST_GUEST"

// The descriptors that a guest has: this program, and envd's socket.
const (
	guestProgram = 3
	guestSocket  = 4
	guestHolds   = 5 // and those behind it
)

// guest is a running sandbox.
type guest struct {
	cmd    *exec.Cmd
	socket string
	dir    string
}

// firstID is the first user id of the first sandbox. Each has as many as a user
// namespace needs, so that no two count each other's processes.
const firstID, idsEach = 3_000_000_000, 1 << 16

func startGuest(opts guestOptions, holds map[string]string) (*guest, error) {
	// A socket's name is short, and a test's directory has a long one.
	dir, err := os.MkdirTemp("", "e2btest")
	if err != nil {
		return nil, err
	}
	g := &guest{dir: dir, socket: filepath.Join(dir, "envd")}
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: g.socket})
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	defer func() { _ = l.Close() }()
	l.SetUnlinkOnClose(false)
	socket, err := l.File()
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	defer socket.Close()
	self, err := os.Open("/proc/self/exe")
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	defer self.Close()
	opts.Holds = slices.Sorted(maps.Keys(holds))
	var trees []*os.File
	defer func() {
		for _, tree := range trees {
			tree.Close()
		}
	}()
	for _, target := range opts.Holds {
		tree, err := openTree(holds[target])
		if err != nil {
			return nil, errors.Join(err, os.RemoveAll(dir))
		}
		trees = append(trees, tree)
	}
	encoded, err := json.Marshal(opts)
	if err != nil {
		return nil, err
	}
	ids := []syscall.SysProcIDMap{{ContainerID: 0, HostID: firstID + os.Getpid()%1000*10*idsEach%200_000_000 + opts.Serial*idsEach, Size: idsEach}}
	flags := uintptr(unix.CLONE_NEWUSER | unix.CLONE_NEWNS | unix.CLONE_NEWPID | unix.CLONE_NEWUTS | unix.CLONE_NEWIPC)
	if !opts.Internet {
		flags |= unix.CLONE_NEWNET
	}
	g.cmd = &exec.Cmd{
		Path: fmt.Sprintf("/proc/self/fd/%d", guestProgram), Args: []string{"e2b-init"}, Dir: "/",
		Env: []string{guestVariable + "=" + string(encoded), "PATH=/usr/sbin:/usr/bin:/sbin:/bin"}, ExtraFiles: append([]*os.File{self, socket}, trees...),
		Stderr: os.Stderr,
		SysProcAttr: &syscall.SysProcAttr{
			Cloneflags: flags, UidMappings: ids, GidMappings: ids, GidMappingsEnableSetgroups: true,
			Credential: &syscall.Credential{}, Pdeathsig: syscall.SIGKILL,
		},
	}
	if err := g.cmd.Start(); err != nil {
		return nil, errors.Join(fmt.Errorf("start a sandbox: %w", err), os.RemoveAll(dir))
	}
	if err := g.await(); err != nil {
		g.kill()
		return nil, err
	}
	return g, nil
}

// await asks envd until it answers.
func (g *guest) await() error {
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true, DialContext: g.dial}, Timeout: 30 * time.Second}
	resp, err := client.Get("http://envd/health")
	if err != nil {
		return fmt.Errorf("envd does not answer: %w", err)
	}
	return resp.Body.Close()
}

func (g *guest) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	var d net.Dialer
	return d.DialContext(ctx, "unix", g.socket)
}

func (g *guest) kill() {
	_ = g.cmd.Process.Kill()
	_ = g.cmd.Wait()
	os.RemoveAll(g.dir)
}

// Main is what a test's TestMain calls first. In a sandbox it returns when that
// ends, with what to exit with; elsewhere guest is false.
func Main() (code int, guest bool) {
	value := os.Getenv(guestVariable)
	if value == "" {
		return 0, false
	}
	var opts guestOptions
	err := json.Unmarshal([]byte(value), &opts)
	switch {
	case err != nil:
	case opts.Envd:
		err = serveEnvd(opts)
	default:
		err = runInit(opts)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "e2btest:", err)
		return 1, true
	}
	return 0, true
}

// runInit makes the sandbox's root, starts envd and reaps what loses its parent.
func runInit(opts guestOptions) error {
	if err := makeRoot(opts.Holds); err != nil {
		return err
	}
	if !opts.Internet {
		if err := loopbackUp(); err != nil {
			return fmt.Errorf("loopback: %w", err)
		}
	}
	opts.Envd = true
	encoded, err := json.Marshal(opts)
	if err != nil {
		return err
	}
	files := []*os.File{os.NewFile(guestProgram, "program"), os.NewFile(guestSocket, "socket")}
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	envd, err := os.StartProcess(fmt.Sprintf("/proc/self/fd/%d", guestProgram), []string{"envd"}, &os.ProcAttr{
		Dir: "/", Env: []string{guestVariable + "=" + string(encoded), "PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin"},
		Files: []*os.File{null, os.Stderr, os.Stderr, files[0], files[1]},
	})
	if err != nil {
		return fmt.Errorf("start envd: %w", err)
	}
	for {
		pid, err := unix.Wait4(-1, nil, 0, nil)
		if pid == envd.Pid || err != nil && !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

// makeRoot makes a root in memory over /tmp, which is everybody's to find.
func makeRoot(holds []string) error {
	const root = "/tmp"
	steps := []func() error{
		func() error { return unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, "") },
		func() error { return unix.Mount("root", root, "tmpfs", 0, "mode=755") },
	}
	for _, dir := range []string{"usr", "etc", "proc", "dev/pts", "dev/shm", "tmp", "run", "root", "home/user"} {
		steps = append(steps, func() error { return os.MkdirAll(filepath.Join(root, dir), 0o755) })
	}
	steps = append(steps,
		func() error { return os.Chmod(root+"/tmp", 0o1777|os.ModeSticky) },
		func() error { return os.Chmod(root+"/root", 0o700) },
		func() error { return os.Chown(root+"/home/user", 1000, 1000) },
		func() error { return unix.Mount("/usr", root+"/usr", "", unix.MS_BIND|unix.MS_REC, "") },
		func() error {
			return unix.Mount("proc", root+"/proc", "proc", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, "")
		},
		func() error {
			return unix.Mount("pts", root+"/dev/pts", "devpts", 0, "newinstance,ptmxmode=0666,mode=0620")
		},
		func() error { return os.Symlink("pts/ptmx", root+"/dev/ptmx") },
		func() error { return os.Symlink("/proc/self/fd", root+"/dev/fd") },
	)
	for _, name := range []string{"bin", "sbin", "lib", "lib64"} {
		steps = append(steps, func() error { return os.Symlink("usr/"+name, filepath.Join(root, name)) })
	}
	for _, name := range []string{"null", "zero", "full", "random", "urandom", "tty"} {
		steps = append(steps, func() error { return bindFile("/dev/"+name, root+"/dev/"+name) })
	}
	for name, content := range map[string]string{
		"etc/passwd": "root:x:0:0::/root:/bin/sh\nuser:x:1000:1000::/home/user:/bin/sh\n",
		"etc/group":  "root:x:0:\nuser:x:1000:\n",
		"run/vmstat": "nr_free_pages 1\noom_kill 0\n",
	} {
		steps = append(steps, func() error { return os.WriteFile(filepath.Join(root, name), []byte(content), 0o644) })
	}
	for i, target := range holds {
		steps = append(steps,
			func() error { return os.MkdirAll(root+target, 0o755) },
			func() error {
				defer unix.Close(guestHolds + i)
				return unix.MoveMount(guestHolds+i, "", unix.AT_FDCWD, root+target, unix.MOVE_MOUNT_F_EMPTY_PATH)
			})
	}
	steps = append(steps,
		// The host's own kills for memory are not the sandbox's.
		func() error { return unix.Mount(root+"/run/vmstat", root+"/proc/vmstat", "", unix.MS_BIND, "") },
		func() error { return unix.Chroot(root) },
		func() error { return os.Chdir("/") },
	)
	for i, step := range steps {
		if err := step(); err != nil {
			return fmt.Errorf("make the root, step %d: %w", i, err)
		}
	}
	return nil
}

// openTree is a directory of the host to be mounted in a guest, which could not
// reach one below a directory that is root's alone.
func openTree(dir string) (*os.File, error) {
	fd, err := unix.OpenTree(unix.AT_FDCWD, dir, unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC|unix.AT_RECURSIVE)
	if err != nil {
		return nil, fmt.Errorf("take %s into a template: %w", dir, err)
	}
	return os.NewFile(uintptr(fd), dir), nil
}

func bindFile(from, to string) error {
	if err := os.WriteFile(to, nil, 0o666); err != nil {
		return err
	}
	return unix.Mount(from, to, "", unix.MS_BIND, "")
}

func loopbackUp() error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	request, err := unix.NewIfreq("lo")
	if err != nil {
		return err
	}
	request.SetUint16(unix.IFF_UP | unix.IFF_RUNNING)
	return unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, request)
}
