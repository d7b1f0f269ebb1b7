package cli

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"

	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// onTerminal runs sandbox-run with all three streams on a terminal and returns
// what the terminal got.
func onTerminal(t *testing.T, script string, args ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "script")
	if err := os.WriteFile(path, []byte(script), 0o600); err != nil {
		t.Fatal(err)
	}
	program, err := exec.LookPath("sandbox-run") // put on PATH by testscript.Main
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program, args...)
	cmd.Dir = filepath.Dir(path)
	cmd.Env = append(os.Environ(), "FAKE_SCRIPT="+path, "TERM=xterm")
	terminal, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 30, Cols: 100})
	if err != nil {
		t.Skipf("no terminal can be made here: %v", err)
	}
	defer terminal.Close()
	out, _ := io.ReadAll(terminal) // ends with EIO when the other side closes
	_ = cmd.Wait()
	return string(out)
}

func TestOnTerminal(t *testing.T) {
	out := onTerminal(t, `{"type":"start","language":"python","version":"3.12"}
{"type":"stdout","data":"no newline"}
{"type":"result","result":{"success":true,"status":"ok"}}`, "-l", "python", "--code", "x")
	if !strings.Contains(out, "no newline\r\n") {
		t.Errorf("our figures begin on the program's line: %q", out)
	}
	if !strings.Contains(out, styleGreen+"ok") || !strings.Contains(out, styleReset) {
		t.Errorf("no colours on a terminal: %q", out)
	}
}

func TestUsageOnTerminal(t *testing.T) {
	out := onTerminal(t, "")
	if !strings.HasPrefix(out, "sandbox-run: no source: give --code") || strings.Count(out, "\n") != 1 {
		t.Errorf("%q", out)
	}
}

// In raw mode our own line needs a carriage return; afterwards the terminal is
// as it was.
func TestRawMode(t *testing.T) {
	ours, theirs, err := pty.Open()
	if err != nil {
		t.Skipf("no terminal can be made here: %v", err)
	}
	defer ours.Close()
	defer theirs.Close()
	before := termios(t, theirs)
	restore, err := makeRaw(theirs)
	if err != nil {
		t.Fatal(err)
	}
	if termios(t, theirs).Lflag&(unix.ECHO|unix.ICANON|unix.ISIG) != 0 {
		t.Error("the terminal is not raw")
	}
	restore()
	if after := termios(t, theirs); after != before {
		t.Errorf("the terminal was %+v and is %+v", before, after)
	}
}

func termios(t *testing.T, f *os.File) unix.Termios {
	t.Helper()
	settings, err := unix.IoctlGetTermios(int(f.Fd()), unix.TCGETS)
	if err != nil {
		t.Fatal(err)
	}
	return *settings
}

func TestTTYRun(t *testing.T) {
	out := onTerminal(t, `{"type":"start","language":"python","version":"3.12"}
{"type":"stdout","data":"hi\r\n"}
{"type":"result","result":{"success":true,"status":"ok"}}`, "--tty", "--color", "never", "-l", "python", "--code", "x")
	if !strings.Contains(out, "── python 3.12\r\nhi\r\n── ok · exit 0\r\n") {
		t.Errorf("%q", out)
	}
}

func TestResize(t *testing.T) {
	ours, theirs, err := pty.Open()
	if err != nil {
		t.Skipf("no terminal can be made here: %v", err)
	}
	defer ours.Close()
	defer theirs.Close()
	sizes, stop := watchResize(theirs)
	defer stop()
	if err := pty.Setsize(ours, &pty.Winsize{Rows: 11, Cols: 22}); err != nil {
		t.Fatal(err)
	}
	if err := unix.Kill(os.Getpid(), unix.SIGWINCH); err != nil {
		t.Fatal(err)
	}
	if got := <-sizes; got != (sandbox.TTY{Rows: 11, Cols: 22}) {
		t.Errorf("size %v", got)
	}
	if got := terminalSize(os.Stdin); isTerminal(os.Stdin) == false && got != (sandbox.TTY{Rows: 24, Cols: 80}) {
		t.Errorf("without a terminal %v", got)
	}
}
