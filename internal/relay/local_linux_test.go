package relay

import (
	"net/netip"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// An address that only a route makes this host's is one of its own.
func TestHostAddressesByRoute(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root has network namespaces to add routes to")
	}
	ip, err := exec.LookPath("ip")
	if err != nil {
		t.Skip("without iproute2's ip nothing adds routes")
	}
	type found struct {
		before, after []netip.Prefix
		err           error
	}
	result := make(chan found)
	go func() {
		runtime.LockOSThread() // and it ends with the goroutine: it is in another namespace then
		var f found
		if f.err = unix.Unshare(unix.CLONE_NEWNET); f.err == nil {
			f.before, f.err = HostAddresses()
		}
		for _, arguments := range []string{"link set lo up", "address flush dev lo", "route add local 192.0.2.128/25 dev lo",
			"-6 route add local 2606:2800:220:1::/64 dev lo", "route add local 0.0.0.0/0 dev lo"} {
			if f.err == nil {
				f.err = exec.Command(ip, strings.Fields(arguments)...).Run() // by this thread, so in its namespace
			}
		}
		if f.err == nil {
			f.after, f.err = HostAddresses()
		}
		result <- f
	}()
	f := <-result
	if f.err != nil {
		t.Fatal(f.err)
	}
	want := []netip.Prefix{netip.MustParsePrefix("192.0.2.128/25"), netip.MustParsePrefix("2606:2800:220:1::/64")}
	if len(f.before) != 0 || !slices.Equal(f.after, want) {
		t.Errorf("own addresses %v, with routes %v; want none, and %v", f.before, f.after, want)
	}
}
