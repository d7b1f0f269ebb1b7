package sandbox

import (
	"net"
	"os/exec"
	"strings"
	"testing"

	"github.com/sandbox-run/sandbox-run/pkg/api"
	"github.com/sandbox-run/sandbox-run/test/internal/testenv"
)

// A second start beside a server that lives fails, and takes nothing of it for lost.
func TestSecondStart(t *testing.T) {
	data := "SANDBOX_DATA_DIR=" + t.TempDir()
	s := started(t, data)
	_, port, err := net.SplitHostPort(strings.TrimPrefix(s.URL, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan answer, 1)
	go func() { done <- s.execute(t, `{"language":"bash","code":"sleep 2; echo finished"}`) }()
	until(t, "it runs", func() bool { return s.health(t).Load == 1 })
	if _, err := launch(data, "SANDBOX_PORT="+port); err == nil || !strings.Contains(err.Error(), "another program listens on") || strings.Contains(err.Error(), "were lost") {
		t.Errorf("the second start: %v", err)
	}
	if r := (<-done).result(t); r.Stdout != "finished\n" {
		t.Errorf("%+v", r)
	}
}

// A server that others can reach makes itself a key, and shows it once.
func TestFirstKey(t *testing.T) {
	data := "SANDBOX_DATA_DIR=" + t.TempDir()
	taken, err := net.Listen("tcp", "0.0.0.0:0")
	if err != nil {
		t.Fatal(err)
	}
	_, port, err := net.SplitHostPort(taken.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	_, err = launch(data, "SANDBOX_ADDR=0.0.0.0", "SANDBOX_PORT="+port)
	if err == nil || !strings.Contains(err.Error(), "another program listens on 0.0.0.0:"+port) || strings.Contains(err.Error(), "sbx_") {
		t.Errorf("with its port taken: %v", err)
	}
	taken.Close()
	s := started(t, data, "SANDBOX_ADDR=0.0.0.0") // makes the key that the start that failed must not have made
	var key string
	for line := range strings.Lines(s.Logged()) {
		if strings.HasPrefix(line, "sbx_") {
			key = strings.TrimSpace(line)
		}
	}
	s.execute(t, `{"code":"1"}`).problem(t, 401)
	if r := s.run(t, api.Request{Code: "print(1)"}, "X-API-Key", key); !r.Success {
		t.Error(r.Message)
	}
	if again := started(t, data, "SANDBOX_ADDR=0.0.0.0"); strings.Contains(again.Logged(), "sbx_") {
		t.Error("the second start shows a key")
	}
}

// A server whose only key was revoked does not let everybody in when it starts again.
func TestRevokedKeyStaysOne(t *testing.T) {
	data := "SANDBOX_DATA_DIR=" + t.TempDir()
	keys := func(args ...string) string {
		cmd := exec.Command(binary, append([]string{"keys"}, args...)...)
		cmd.Env = testenv.Environ(data)
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		return strings.TrimSpace(string(out))
	}
	key := keys("create", "acme")
	keys("revoke", key)
	s := started(t, data)
	s.execute(t, `{"code":"1"}`).problem(t, 401)
	s.execute(t, `{"code":"1"}`, "X-API-Key", key).problem(t, 401)
	if log := s.Logged(); !strings.Contains(log, "no key is valid") || strings.Contains(log, "sbx_") {
		t.Error(log)
	}
}
