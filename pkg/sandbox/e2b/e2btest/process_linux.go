package e2btest

import (
	"errors"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/creack/pty"
)

// process is one that envd has started.
type process struct {
	cmd *exec.Cmd
	tty *os.File

	mu    sync.Mutex
	stdin io.WriteCloser
}

type startRequest struct {
	Process struct {
		Cmd  string
		Args []string
		Envs map[string]string
		Cwd  string
	}
	PTY   *struct{ Size struct{ Cols, Rows uint16 } }
	Stdin *bool
}

func (e *envd) start(w http.ResponseWriter, r *http.Request, a account) {
	w.Header().Set("Content-Type", "application/connect+json")
	s := &sender{w: w}
	var req startRequest
	if err := readEnvelope(r.Body, &req); err != nil {
		s.send(2, map[string]any{"error": map[string]string{"code": "invalid_argument", "message": err.Error()}})
		return
	}
	if !e.opts.StdinFlag {
		req.Stdin = nil
	}
	p, outputs, err := launch(req, a, e.opts.Env)
	if err != nil {
		s.send(2, map[string]any{"error": map[string]string{"code": "invalid_argument", "message": err.Error()}})
		return
	}
	pid := uint32(p.cmd.Process.Pid)
	e.mu.Lock()
	e.processes[pid] = p
	e.mu.Unlock()
	s.send(0, event("start", map[string]any{"pid": pid}))
	ended := make(chan struct{})
	go keepAlive(s, r, ended)
	state := p.follow(s, outputs, e.opts.EndsAtOnce)
	close(ended)
	e.mu.Lock()
	delete(e.processes, pid)
	e.mu.Unlock()
	end := map[string]any{"status": state.String()}
	if code := state.ExitCode(); code != 0 {
		end["exitCode"], end["error"] = code, state.String()
	}
	if state.Exited() {
		end["exited"] = true
	}
	s.send(0, event("end", end))
	s.send(2, map[string]any{})
}

// launch starts a process as a user and returns what it writes to.
func launch(req startRequest, a account, env map[string]string) (*process, map[string]*os.File, error) {
	cmd := exec.Command(req.Process.Cmd, req.Process.Args...)
	cmd.Dir = req.Process.Cwd
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + a.home, "USER=" + a.name, "LOGNAME=" + a.name}
	for _, more := range []map[string]string{env, req.Process.Envs} {
		for k, v := range more {
			cmd.Env = append(cmd.Env, k+"="+v)
		}
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(a.uid), Gid: uint32(a.gid), Groups: []uint32{uint32(a.gid)}}}
	p := &process{cmd: cmd}
	if req.PTY != nil {
		tty, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: req.PTY.Size.Rows, Cols: req.PTY.Size.Cols})
		p.tty = tty
		return p, map[string]*os.File{"pty": tty}, err
	}
	out, outW, err := os.Pipe()
	if err != nil {
		return nil, nil, err
	}
	defer outW.Close()
	errOut, errW, err := os.Pipe()
	if err != nil {
		return nil, nil, err
	}
	defer errW.Close()
	cmd.Stdout, cmd.Stderr = outW, errW
	outputs := map[string]*os.File{"stdout": out, "stderr": errOut}
	if req.Stdin == nil || *req.Stdin {
		stdin, err := cmd.StdinPipe()
		if err != nil {
			return nil, nil, err
		}
		p.stdin = stdin
	}
	return p, outputs, cmd.Start()
}

// follow sends what the process writes, until all who could write have ended, or
// until the process has, and returns how it did.
func (p *process) follow(s *sender, outputs map[string]*os.File, atOnce bool) *os.ProcessState {
	var reading sync.WaitGroup
	for name, f := range outputs {
		reading.Go(func() {
			buf := make([]byte, 32<<10)
			for {
				n, err := f.Read(buf)
				if n > 0 {
					s.send(0, event("data", map[string]any{name: buf[:n]}))
				}
				if err != nil {
					return
				}
			}
		})
	}
	if !atOnce {
		reading.Wait()
	}
	_ = p.cmd.Wait()
	for _, f := range outputs {
		if atOnce {
			_ = f.SetReadDeadline(time.Now().Add(100 * time.Millisecond))
		}
	}
	reading.Wait()
	for _, f := range outputs {
		f.Close()
	}
	return p.cmd.ProcessState
}

// keepAlive sends what a client asks for while a process is silent.
func keepAlive(s *sender, r *http.Request, ended <-chan struct{}) {
	seconds, err := strconv.Atoi(r.Header.Get("Keepalive-Ping-Interval"))
	if err != nil || seconds <= 0 {
		seconds = 90
	}
	tick := time.NewTicker(time.Duration(seconds) * time.Second)
	defer tick.Stop()
	for {
		select {
		case <-ended:
			return
		case <-r.Context().Done():
			return
		case <-tick.C:
			s.send(0, event("keepalive", map[string]any{}))
		}
	}
}

type processRequest struct {
	Process struct{ PID uint32 }
	Input   struct{ Stdin, PTY []byte }
	Signal  string
	PTY     struct{ Size struct{ Cols, Rows uint16 } }
}

// one decodes a request about a process and finds it.
func (e *envd) one(w http.ResponseWriter, r *http.Request) (*process, processRequest, bool) {
	var req processRequest
	if !decode(w, r, &req) {
		return nil, req, false
	}
	e.mu.Lock()
	p := e.processes[req.Process.PID]
	e.mu.Unlock()
	if p == nil {
		refuse(w, "not_found", "process not found")
		return nil, req, false
	}
	return p, req, true
}

func done(w http.ResponseWriter, err error) {
	if err != nil {
		refuse(w, "internal", err.Error())
		return
	}
	answer(w, http.StatusOK, map[string]any{})
}

func (e *envd) sendInput(w http.ResponseWriter, r *http.Request, _ account) {
	p, req, ok := e.one(w, r)
	if !ok {
		return
	}
	if p.tty != nil {
		_, err := p.tty.Write(req.Input.PTY)
		done(w, err)
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.stdin == nil {
		done(w, errors.New("stdin not enabled or closed"))
		return
	}
	_, err := p.stdin.Write(req.Input.Stdin)
	done(w, err)
}

func (e *envd) closeStdin(w http.ResponseWriter, r *http.Request, _ account) {
	p, _, ok := e.one(w, r)
	if !ok {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.stdin != nil {
		p.stdin.Close()
		p.stdin = nil
	}
	done(w, nil)
}

func (e *envd) sendSignal(w http.ResponseWriter, r *http.Request, _ account) {
	p, req, ok := e.one(w, r)
	if !ok {
		return
	}
	switch req.Signal {
	case "SIGNAL_SIGTERM":
		done(w, p.cmd.Process.Signal(syscall.SIGTERM))
	case "SIGNAL_SIGKILL":
		done(w, p.cmd.Process.Signal(syscall.SIGKILL))
	default:
		refuse(w, "invalid_argument", "invalid signal: "+req.Signal)
	}
}

func (e *envd) update(w http.ResponseWriter, r *http.Request, _ account) {
	p, req, ok := e.one(w, r)
	if !ok {
		return
	}
	if p.tty == nil {
		refuse(w, "internal", "tty not assigned to process")
		return
	}
	done(w, pty.Setsize(p.tty, &pty.Winsize{Rows: req.PTY.Size.Rows, Cols: req.PTY.Size.Cols}))
}
