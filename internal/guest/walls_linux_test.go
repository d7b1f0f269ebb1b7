package guest

import (
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// TestInitIsOutOfReach: init has the user of the programs. What keeps it from them
// is that it is not dumpable, and the first of its pid namespace.
func TestInitIsOutOfReach(t *testing.T) {
	w := start(t)
	const reach = `
for f in mem maps environ auxv task/1/mem fd/3 fd/4 fd/8; do (exec 9<$P/$f) && echo $f; (exec 9>>$P/$f) && echo $f; done
for f in exe cwd root fd/3 fd/4; do readlink $P/$f; done
echo done`
	equal(t, "what can be reached of init", w.sh("P=/proc/1"+reach).stdout, "done\n")
	// The ways are there: they lead to a process that is like any other.
	got := w.sh("sleep 1000 3<&0 4<&0 & P=/proc/$!; until readlink $P/exe | grep -q sleep; do :; done" + reach).stdout
	for _, name := range []string{"mem\n", "maps\n", "environ\n", "fd/3\n", "/sleep\n"} {
		if !strings.Contains(got, name) {
			t.Errorf("%q cannot be reached of another process either: %q", name, got)
		}
	}
	limits := "/proc/" + strconv.Itoa(w.init.Process.Pid) + "/limits"
	before, err := os.ReadFile(limits)
	must(t, err)
	w.sh("kill -9 1; kill -STOP 1; kill -TERM 1; prlimit --pid 1 --nofile=5 --fsize=0 --cpu=1; kill -9 -1")
	after, err := os.ReadFile(limits)
	must(t, err)
	equal(t, "limits of init", string(after), string(before))
	equal(t, "after all that", w.sh("echo alive").stdout, "alive\n")
}

// TestNetworkWall: the filter is the network's wall, in the world of the host too.
func TestNetworkWall(t *testing.T) {
	if _, err := os.Stat("/bin/bash"); err != nil {
		t.Skip("it needs bash, which connects")
	}
	w := start(t, func(o *Options) { o.Network.Mode = sandbox.NetworkLocalhost })
	p := sandbox.Process{Args: []string{"/bin/bash", "-c", "exec 3<>/dev/tcp/127.0.0.1/1"}}
	if got := w.run(p); !strings.Contains(got.stderr, "Connection refused") {
		t.Errorf("with a network: %q", got.stderr)
	}
	p.Network = &sandbox.NetworkPolicy{Mode: sandbox.NetworkNone}
	if got := w.run(p); got.stderr == "" || strings.Contains(got.stderr, "Connection refused") {
		t.Errorf("without a network: %q", got.stderr)
	}
	p.Network = &sandbox.NetworkPolicy{Mode: sandbox.NetworkFull}
	if _, err := w.Start(t.Context(), p); err == nil {
		t.Error("more of a network than the container has")
	}
}
