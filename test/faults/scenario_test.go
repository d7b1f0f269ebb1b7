package faults

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/sandbox-run/sandbox-run/pkg/api"
)

// scenario is a request with one right answer.
type scenario struct {
	name    string
	request api.Request
	status  api.Status
	// stdout and files are what the answer has, of a run that ends well.
	stdout string
	files  map[string]string
	// needs is a program without which the language does not run.
	needs string
}

// walls prints what stands around the program, as it sees it: if a step of its walls
// failed and nobody noticed, it prints something else.
const walls = `
import ctypes, os, socket
for line in open('/proc/self/status'):
    name, value = line.strip().split(':', 1)
    if name in ('Uid', 'Gid'):
        print(name, len(set(value.split())), '0' in value.split())
    if name in ('Groups', 'NoNewPrivs', 'Seccomp', 'Seccomp_filters', 'CapInh', 'CapPrm', 'CapEff', 'CapBnd', 'CapAmb', 'SigBlk', 'SigIgn', 'Umask'):
        print(name, value)
print(open('/proc/self/limits').read())
for line in open('/proc/self/mountinfo'):
    f = line.split()
    print(f[4], f[5])
def attempt(call):
    try:
        return call()
    except OSError as e:
        return e.errno
libc = ctypes.CDLL(None, use_errno=True)
def layers(): # that Landlock still lets it add: of block devices, which nobody makes
    for n in range(20):
        rules = libc.syscall(444, ctypes.byref(ctypes.c_uint64(1 << 11)), ctypes.c_size_t(8), 0)
        if rules < 0 or libc.syscall(446, rules, 0) < 0:
            return n, ctypes.get_errno()
        os.close(rules)
print(sorted(os.listdir('/proc/self/fd')), os.uname()[1], sorted(os.environ))
for call in (lambda: sorted(os.listdir('/')), lambda: sorted(os.listdir('/dev')), lambda: open('/proc/sys/user/max_user_namespaces').read(),
        lambda: open('/usr/x', 'w'), lambda: open('/proc/kcore', 'rb').read(1), lambda: os.setuid(0), lambda: os.chroot('/'),
        lambda: os.listdir('/var'), lambda: open('/etc/hostname').read(),
        lambda: socket.socket(socket.AF_INET), lambda: os.kill(1, 0), lambda: os.sched_getaffinity(0), layers):
    print(attempt(call))
`

// scenarios are the ways of a run through the server: input and output of files, each
// of the limits, a compiler, a network.
var scenarios = []scenario{
	{name: "walls", request: api.Request{Language: "python", Code: walls}, status: api.StatusOK},
	{
		name: "files",
		request: api.Request{
			Language: "python", Stdin: "from stdin\n",
			Code:  "import sys, os\nprint(open('in/a').read() + sys.stdin.read())\nopen('out', 'w').write('written')\nos.mkdir('d')\nopen('d/e', 'w').write('deeper')\nsys.stderr.write('x' * 3000)",
			Files: map[string]api.InputFile{"in/a": {Content: "from a file\n"}},
		},
		status: api.StatusOK, stdout: "from a file\nfrom stdin\n\n", files: map[string]string{"out": "written", "d/e": "deeper"},
	},
	{
		name:    "output",
		request: api.Request{Language: "python", Code: "import sys\nfor i in range(20000): print(i)", Limits: &api.RequestLimits{OutputKB: 1024}},
		status:  api.StatusOK, stdout: upTo(20000),
	},
	{
		name:    "memory",
		request: api.Request{Language: "python", Code: "x = bytearray(300 << 20)\nprint(len(x))", Limits: &api.RequestLimits{MemoryMB: 64}},
		status:  api.StatusMemoryLimit,
	},
	{
		name:    "time",
		request: api.Request{Language: "python", Code: "while True: pass", TimeoutSeconds: 0.3},
		status:  api.StatusTimeout,
	},
	{
		name:    "disk",
		request: api.Request{Language: "python", Code: "f = open('f', 'wb')\nfor i in range(64): f.write(b'x' * (1 << 20))\nf.flush()", Limits: &api.RequestLimits{DiskMB: 8}, Collect: &[]string{}},
		status:  api.StatusDiskLimit,
	},
	{
		name:    "processes",
		request: api.Request{Language: "python", Code: "import os, time\nfor i in range(8):\n    if os.fork() == 0: time.sleep(60)", Limits: &api.RequestLimits{Processes: 4}},
		status:  api.StatusProcessLimit,
	},
	{
		name:    "compile",
		request: api.Request{Language: "c", Code: "#include <stdio.h>\nint main(void) { puts(\"compiled\"); }", Recompile: true},
		status:  api.StatusOK, stdout: "compiled\n", needs: "gcc",
	},
	{
		name:    "compiled before",
		request: api.Request{Language: "c", Code: "#include <stdio.h>\nint main(void) { puts(\"kept\"); }"},
		status:  api.StatusOK, stdout: "kept\n", needs: "gcc",
	},
	{
		name:    "network",
		request: api.Request{Language: "bash", Code: "echo reached", Network: &api.RequestNetwork{Mode: "allowlist", Allow: []string{"example.com:443"}}},
		status:  api.StatusOK, stdout: "reached\n",
	},
}

func upTo(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintln(&b, i)
	}
	return b.String()
}

// wrong says what is wrong with an answer that is a verdict about the program, or with
// how a failure of ours is told.
func (sc scenario) wrong(a answer) string {
	switch {
	case a.err != nil:
		return "no answer"
	case a.code != http.StatusOK:
		return a.explains()
	case a.Status != sc.status:
		return fmt.Sprintf("the verdict is %s, and should be %s", a.Status, sc.status)
	case sc.status != api.StatusOK:
		return ""
	case a.Stdout != sc.stdout:
		return fmt.Sprintf("stdout is %.2000q, and should be %.2000q", a.Stdout, sc.stdout)
	}
	for name, want := range sc.files {
		skipped := slices.ContainsFunc(a.FilesSkipped, func(s api.SkippedFile) bool { return s.Path == name && s.Reason != "" })
		if a.Files[name].Content != want && !skipped {
			return fmt.Sprintf("the file %s is %+v", name, a.Files[name])
		}
	}
	return ""
}
