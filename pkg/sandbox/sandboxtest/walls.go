package sandboxtest

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/sandbox-run/sandbox-run/pkg/api"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

func (s *suite) tree(c sandbox.Container) sandbox.FileTree {
	s.Helper()
	tree, err := c.Files(sandbox.WorkspaceDir)
	if err != nil {
		s.Fatal(err)
	}
	return tree
}

func (s *suite) files() {
	c := s.create(s.spec())
	tree := s.tree(c)
	if err := tree.WriteFile("sub/dir/ü 🦀.sh", strings.NewReader("#!/bin/sh\necho run\n"), 0o755); err != nil {
		s.Fatal(err)
	}
	s.equal("stdout", s.sh(c, `"./sub/dir/ü 🦀.sh"; echo more >> "sub/dir/ü 🦀.sh"; echo new > sub/new`).stdout, "run\n")
	f, err := tree.Open("sub/dir/ü 🦀.sh")
	if err != nil {
		s.Fatal(err)
	}
	content, err := io.ReadAll(f)
	f.Close()
	if err != nil || string(content) != "#!/bin/sh\necho run\nmore\n" {
		s.Errorf("content %q, %v", content, err)
	}
	var names []string
	if err := tree.Walk(100, func(i sandbox.FileInfo) error { names = append(names, i.Path); return nil }); err != nil {
		s.Error(err)
	}
	slices.Sort(names)
	s.equal("names", strings.Join(names, ","), "sub,sub/dir,sub/dir/ü 🦀.sh,sub/new")
	for _, bad := range []string{"../x", "/x", "a/../../x", "", "."} {
		if err := tree.WriteFile(bad, strings.NewReader("x"), 0o644); err == nil {
			s.Errorf("writing %q was allowed", bad)
		}
	}
}

// planted puts links, FIFOs and the like where the host will write and read.
func (s *suite) planted() {
	canary := filepath.Join(s.TempDir(), "canary")
	if err := os.WriteFile(canary, []byte("untouched"), 0o666); err != nil {
		s.Fatal(err)
	}
	c := s.create(s.spec())
	tree := s.tree(c)
	s.sh(c, "ln -s "+canary+" link; mkfifo fifo; mkdir dir; ln -s / up; ln -s "+filepath.Dir(canary)+" outside")
	for _, name := range []string{"link", "fifo"} {
		if _, err := tree.Open(name); err == nil {
			s.Errorf("%s could be opened", name)
		}
		if err := tree.WriteFile(name, strings.NewReader("ours"), 0o644); err != nil {
			s.Errorf("writing over %s: %v", name, err)
		}
		s.equal("what is at "+name, s.sh(c, "cat "+name).stdout, "ours")
	}
	if _, err := tree.Open("outside/canary"); err == nil {
		s.Error("a link out of the tree was followed")
	}
	if err := tree.WriteFile("outside/planted", strings.NewReader("x"), 0o644); err == nil {
		s.Error("a file was written through a link out of the tree")
	}
	if err := tree.Walk(1000, func(i sandbox.FileInfo) error {
		if strings.HasPrefix(i.Path, "up/") || strings.HasPrefix(i.Path, "outside/") {
			s.Errorf("the walk left the tree: %s", i.Path)
			return fs.SkipAll
		}
		return nil
	}); err != nil {
		s.Error(err)
	}
	s.sh(c, "d=$(printf %0200d 0); p=$d; for i in $(seq 120); do p=$p/$d; done; mkdir -p $p")
	deep := 0
	if err := tree.Walk(1000, func(i sandbox.FileInfo) error { deep = max(deep, strings.Count(i.Path, "/")); return nil }); err != nil || deep < 15 { // which is where the kernel ends
		s.Errorf("of a tree with paths longer than the kernel takes the walk saw %d levels: %v", deep, err)
	}
	if content, _ := os.ReadFile(canary); string(content) != "untouched" {
		s.Errorf("the canary says %q", content)
	}
}

func (s *suite) worldInside() {
	c := s.create(s.spec())
	if c.Isolation().Level != sandbox.LevelFull {
		s.Skipf("isolation %s has the host's world", c.Isolation().Level)
	}
	ownKernel := ownKernel(c)
	if !ownKernel {
		s.hostKernelInside(c)
	}
	if c.Isolation().Mechanisms["vm"] != api.Enforced { // where no_new_privs has to do
		s.prints(c, "grep CapBnd /proc/self/status | cut -f2", "0000000000000000\n")
	}
	if c.Isolation().Mechanisms["no_new_privs"] == api.Enforced {
		s.prints(c, "grep NoNewPrivs /proc/self/status | cut -f2", "1\n")
	}
	if !s.image {
		s.prints(c, "for d in /home /root /var /boot; do test -e $d && echo $d; done", "")
	}
	if !s.image && !ownKernel {
		s.prints(c, "test -e /sys && echo /sys", "")
	}
	for script, want := range map[string]string{
		"id -un; id -gn; id -G | wc -w": "sandbox\nsandbox\n1\n",
		"hostname":                      "sandbox\n",
		"pwd; echo $HOME":               "/workspace\n/workspace\n",
		"grep -c . /proc/self/mountinfo > /dev/null":                                             "",
		"grep 'Cap[IPEA]' /proc/self/status | cut -f2 | sort -u":                                 "0000000000000000\n",
		"for f in /usr/x /etc/x /x /dev/x; do touch $f 2>/dev/null; test -e $f && echo $f; done": "",
		"echo x > /tmp/x && echo x > /dev/shm/x && echo ok":                                      "ok\n",
		"find / -xdev -type s 2>/dev/null":                                                       "",
		"ulimit -c":                                                                              "0\n",
	} {
		s.prints(c, script, want)
	}
}

// ownKernel tells whether the container's kernel is another one than the host's.
func ownKernel(c sandbox.Container) bool {
	m := c.Isolation().Mechanisms
	return m["kernel"] == api.Enforced || m["vm"] == api.Enforced
}

// hostKernelInside: what /proc tells where the kernel is the host's own.
func (s *suite) hostKernelInside(c sandbox.Container) {
	for script, want := range map[string]string{
		"grep -E 'NoNewPrivs|Seccomp:' /proc/self/status | cut -f2 | tr -d '\\n'": "12",
		"ls /proc/self/fd | tr -d '\\n'":                                          "0123", // 3 is ls's own
	} {
		s.prints(c, script, want)
	}
	if c.Isolation().Mechanisms["namespaces"] == api.Enforced {
		s.prints(c, "cat /proc/self/cgroup | cut -d: -f3 | sort -u", "/\n")
	}
}

func (s *suite) prints(c sandbox.Container, script, want string) {
	s.Helper()
	if e := s.sh(c, script); e.stdout != want {
		s.Errorf("%s\nprints %q, want %q (%s)", script, e.stdout, want, e.stderr)
	}
}

func (s *suite) hostInvisible() {
	canary := filepath.Join(s.TempDir(), "canary")
	if err := os.WriteFile(canary, []byte("secret"), 0o644); err != nil {
		s.Fatal(err)
	}
	if err := os.Chmod(filepath.Dir(canary), 0o755); err != nil {
		s.Fatal(err)
	}
	c := s.create(s.spec())
	if c.Isolation().Level == sandbox.LevelNone {
		s.Skip("isolation none hides nothing")
	}
	e := s.sh(c, "cat "+canary+"; cat /etc/shadow; ls /root; for p in /proc/[0-9]*; do cat $p/root"+canary+"; done")
	s.equal("stdout", e.stdout, "")
}

func (s *suite) apart() {
	a, b := s.create(s.spec()), s.create(s.spec())
	if a.Isolation().Level == sandbox.LevelNone {
		s.Skip("isolation none hides nothing")
	}
	const count = "set -- /proc/[0-9]*; echo $#"
	alone := ""
	if a.Isolation().Level == sandbox.LevelFull {
		alone = s.sh(b, count).stdout
	}
	running := s.begun(a, "echo mine > /tmp/file; echo mine > /workspace/file 2>/dev/null; echo up; exec sleep 1000")
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_, _ = running.Wait()
	}()
	if a.Isolation().Level == sandbox.LevelFull {
		e := s.sh(b, "cat /tmp/file /workspace/file; "+count+"; kill -9 -1; echo alive")
		s.equal("what the other sees", e.stdout, alone+"alive\n")
	} else if b.Isolation().Mechanisms["signals"] == api.Enforced { // else it would be the end of us all
		s.sh(b, "kill -9 -1")
	}
	select {
	case <-ended:
		s.Error("the first one is gone")
	case <-time.After(200 * time.Millisecond): // that the news of its death would take
	}
	if err := running.Kill(); err != nil {
		s.Error(err)
	}
	<-ended
}

func (s *suite) noNetwork() {
	c := s.create(s.spec())
	if c.Isolation().Level == sandbox.LevelNone {
		s.Skip("isolation none has the host's network")
	}
	port, heard := s.hostServer()
	nowhere := []string{"127.0.0.1", port, "192.0.2.1", "80", "169.254.169.254", "80", hostName, port, "example.org", "80"}
	tried := s.connects(c, nil, nowhere...)
	if strings.Count(tried.stdout, "\n") != len(nowhere)/2 || tried.Code != 0 {
		s.Errorf("code %d, stdout %q, stderr %q, want a line of each attempt", tried.Code, tried.stdout, tried.stderr)
	}
	for line := range strings.Lines(tried.stdout) {
		if !strings.HasSuffix(line, "rror\n") && line != "timeout\n" {
			s.Errorf("something was reached: %q", line)
		}
	}
	if len(heard) > 0 {
		s.Errorf("the host's server heard %q", <-heard)
	}
	if c.Isolation().Mechanisms["seccomp"] != api.Enforced {
		return // sockets can be made, and lead nowhere
	}
	e := s.sh(c, `command -v python3 >/dev/null || exit 99
	exec python3 -S -c '
import socket
for family, kind in ((socket.AF_INET, socket.SOCK_STREAM), (socket.AF_INET, socket.SOCK_DGRAM), (socket.AF_INET6, socket.SOCK_STREAM), (16, socket.SOCK_RAW), (40, socket.SOCK_STREAM)):
    try:
        socket.socket(family, kind)
        print("socket", family, kind)
    except OSError:
        pass
'`)
	if e.Code == 99 {
		s.Skip("no python3 in the root to make sockets with")
	}
	s.equal("sockets that could be made", e.stdout, "")
	s.equal("exit code", e.Code, 0)
}

func (s *suite) loopback() {
	spec := s.spec()
	spec.Network.Mode = sandbox.NetworkLocalhost
	c := s.create(spec)
	e := s.sh(c, `command -v python3 >/dev/null || exit 99
	exec python3 -S -c '
import socket
server = socket.create_server(("127.0.0.1", 8080))
client = socket.create_connection(("127.0.0.1", 8080))
conn, _ = server.accept()
client.sendall(b"over loopback"); print(conn.recv(100).decode())
try:
    socket.create_connection(("192.0.2.1", 80), timeout=1)
except OSError as e:
    print("unreachable")
'`)
	if e.Code == 99 {
		s.Skip("no python3 in the root to make sockets with")
	}
	s.equal("stdout", e.stdout, "over loopback\nunreachable\n")
}

func (s *suite) memory() {
	c := s.create(s.spec())
	s.held(c, sandbox.LimitMemory, api.Sampled)
	enforced := c.Isolation().Limits[sandbox.LimitMemory] == api.Enforced
	// tail keeps what it reads until a newline comes, which it never does.
	script := "tail /dev/zero"
	if enforced { // where the kernel kills one process alone, the rest is ours to end
		script += "; sleep 1000; echo survived"
	}
	p := shell(script)
	p.Limits = sandbox.Limits{MemoryBytes: 32 << 20}
	e := s.run(c, p)
	if e.OOMKills == 0 && !e.MemoryKill && !strings.Contains(e.stderr, "memory") {
		s.Errorf("no out-of-memory kill: %+v, stderr %q", e.Exit, e.stderr)
	}
	if enforced && e.stdout != "" {
		s.Errorf("the rest of the run went on: %q", e.stdout)
	}
}

func (s *suite) processes() {
	c := s.create(s.spec())
	s.held(c, sandbox.LimitProcesses)
	p := shell("i=0; while [ $i -lt 50 ]; do sleep 1000 & i=$((i+1)); done; echo all")
	p.Limits = sandbox.Limits{Processes: 10}
	e := s.run(c, p)
	s.equal("stdout", e.stdout, "")
	if e.Code == 0 {
		s.Error("fifty processes were started under a limit of ten")
	}
}

func (s *suite) disk() {
	spec := s.spec()
	spec.Disk = sandbox.DiskLimit{Bytes: 2 << 20, Inodes: 100}
	c := s.create(spec)
	s.held(c, sandbox.LimitDisk)
	e := s.sh(c, "head -c 1m /dev/zero > /tmp/a; head -c 1m /dev/zero > b; head -c 1m /dev/zero > /dev/shm/c; cat /tmp/a b /dev/shm/c | wc -c")
	s.equal("bytes that fit on all of it", strings.TrimSpace(e.stdout), "2097152")
	if e.Disk.BytesUsed != e.Disk.BytesTotal || e.Disk.BytesTotal != 2<<20 {
		s.Errorf("the disk is not seen full: %+v", e.Disk)
	}
	e = s.sh(c, "rm /tmp/a b /dev/shm/c; i=0; while [ $i -lt 300 ]; do touch f$i || exit 3; i=$((i+1)); done")
	s.equal("exit code with 100 files allowed", e.Code, 3)
}

func (s *suite) onDisk() {
	caps, err := s.rt.Probe(s.Context())
	if err != nil {
		s.Fatal(err)
	}
	if !caps.WorkspaceOnDisk {
		s.Skip("this runtime cannot keep a workspace on disk here")
	}
	spec := s.spec()
	spec.WorkspaceOnDisk = true
	spec.Disk = sandbox.DiskLimit{Bytes: 8 << 20, Inodes: 500}
	c := s.create(spec)
	e := s.sh(c, "stat -f -c %T . /tmp; echo x > /tmp/x; head -c 20m /dev/zero > big; cat big | wc -c")
	var written int
	if n, err := fmt.Sscanf(e.stdout, "ext2/ext3\next2/ext3\n%d", &written); n != 1 || written < 4<<20 || written > 8<<20 {
		s.Errorf("stdout %q (%v): want two ext4 and most of 8 MiB", e.stdout, err)
	}
	// In the figures of the limit, whatever the file system has for itself.
	if d := e.Disk; d.BytesTotal != 8<<20 || d.BytesTotal-d.BytesUsed >= d.BlockBytes {
		s.Errorf("the disk is not seen full: %+v", d)
	}
	e = s.sh(c, "rm big; i=0; while [ $i -lt 1000 ]; do touch f$i || exit 3; i=$((i+1)); done")
	s.equal("exit code with 500 files allowed", e.Code, 3)
	if d := e.Disk; d.InodesTotal != 500 || d.InodesUsed != 500 || d.BytesTotal-d.BytesUsed < d.BlockBytes {
		s.Errorf("no files are left, but room is: %+v", d)
	}
}

func (s *suite) openFiles() {
	p := shell("i=3; while [ $i -lt 40 ]; do eval \"exec $i</dev/null\" || exit 3; i=$((i+1)); done; echo all")
	p.Args[0] = "/bin/bash"
	p.Limits = sandbox.Limits{OpenFiles: 20}
	s.equal("stdout", s.run(s.create(s.spec()), p).stdout, "")
}

func (s *suite) metrics() {
	c := s.create(s.spec())
	p := shell("head -c 20m /dev/zero > big; i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done; sleep 0.05 & sleep 0.05 & wait")
	p.Limits = sandbox.Limits{MemoryBytes: 200 << 20, Processes: 50}
	e := s.run(c, p)
	if e.Duration <= 0 {
		s.Error("no duration")
	}
	cpu, known := e.Metrics.CPU()
	if !known || cpu <= 0 || cpu > e.Duration*8 {
		s.Errorf("CPU time %v of %v", cpu, e.Duration)
	}
	if m := e.Metrics.MemoryPeakBytes; m == nil || *m <= 0 || c.Isolation().Limits[sandbox.LimitMemory] == api.Enforced && *m < 20<<20 {
		s.Errorf("memory peak %v", m)
	}
	for name, source := range e.Metrics.Sources {
		if source == "" {
			s.Errorf("no source of %s", name)
		}
	}
}
