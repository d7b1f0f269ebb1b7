package daemon

import (
	"bytes"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"
)

// A flag is a variable that beats those of the environment.
func TestSettingsAreFlags(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, `{"status":"ok"}`) })}
	go s.Serve(l)
	defer s.Close()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	var out, errs bytes.Buffer
	call := func(args ...string) int {
		out.Reset()
		errs.Reset()
		return Command{Stdout: &out, Stderr: &errs, Environ: []string{"SANDBOX_PORT=1", "SANDBOX_DATA_DIR=" + t.TempDir()}}.Main(args)
	}
	if code := call("healthcheck"); code != 1 {
		t.Errorf("without the flag: exit code %d", code)
	}
	for _, args := range [][]string{{"healthcheck", "--port", port}, {"--port=" + port, "healthcheck"}} {
		if code := call(args...); code != 0 {
			t.Errorf("%q: exit code %d: %s", args, code, &errs)
		}
	}
	if code := call("healthcheck", "--port", "x"); code != 2 || !strings.Contains(errs.String(), "SANDBOX_PORT") {
		t.Errorf("exit code %d: %s", code, &errs)
	}
	if code := call("healthcheck", "--api-key", "k"); code != 2 || !strings.Contains(errs.String(), "unknown flag --api-key") {
		t.Errorf("a key on the command line: exit code %d: %s", code, &errs)
	}
	if call("--help"); !strings.Contains(out.String(), "--max-concurrent=VALUE") {
		t.Error(out.String())
	}
}
