package testenv

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// Server is a running sandbox-server.
type Server struct {
	Cmd *exec.Cmd
	// URL is its address, http://HOST:PORT.
	URL string
	// Key is the API key by which its metrics are read; empty where it asks for none.
	Key string

	mu  sync.Mutex
	log bytes.Buffer
	eof chan struct{}
}

// Launch starts a server as a user, or as ourselves where that is nil, on a free port,
// with settings such as SANDBOX_TIMEOUT_SEC=5, and waits until it is ready. It makes nothing
// before it is wanted, unless SANDBOX_WARM says so: most tests count what is there.
func Launch(binary string, user *syscall.Credential, settings ...string) (*Server, error) {
	s := &Server{Cmd: exec.Command(binary), eof: make(chan struct{})}
	s.Cmd.Env = append(Environ("SANDBOX_PORT=0", "SANDBOX_WARM=off"), settings...)
	s.Cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Credential: user}
	if user != nil {
		s.Cmd.Dir = "/"
	}
	stderr, err := s.Cmd.StderrPipe()
	if err != nil {
		return nil, err
	}
	if err := s.Cmd.Start(); err != nil {
		return nil, err
	}
	ready := make(chan string, 1)
	go s.read(stderr, ready)
	select {
	case address := <-ready:
		s.URL = "http://" + address
		return s, nil
	case <-s.eof:
		err := s.Cmd.Wait()
		return nil, fmt.Errorf("the server ended: %w\n%s", err, s.Logged())
	case <-time.After(time.Minute):
		_ = s.Cmd.Process.Kill()
		return nil, fmt.Errorf("the server is not ready after a minute:\n%s", s.Logged())
	}
}

// Fill has what a server prepares once be prepared, as that user and with those settings: else the server
// does it as soon as it rests, beside whatever a test looks at.
func Fill(binary string, user *syscall.Credential, settings ...string) error {
	cmd := exec.Command(binary, "warm")
	cmd.Env = Environ(settings...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Credential: user}
	if user != nil {
		cmd.Dir = "/"
	}
	if said, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("sandbox-server warm: %w\n%s", err, said)
	}
	return nil
}

// read keeps the log and tells the address from the line that says ready.
func (s *Server) read(stderr io.Reader, ready chan<- string) {
	defer close(s.eof)
	lines := bufio.NewScanner(stderr)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		s.mu.Lock()
		s.log.Write(lines.Bytes())
		s.log.WriteByte('\n')
		s.mu.Unlock()
		var line struct{ Msg, Address string }
		if json.Unmarshal(lines.Bytes(), &line) == nil && line.Msg == "ready" {
			ready <- line.Address
		}
	}
}

// Logged is what the server has said on stderr.
func (s *Server) Logged() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.log.String()
}

// Metric is the sum of a metric over all labels that have these words, or NaN where the
// server has none such, or does not say.
func (s *Server) Metric(name string, words ...string) float64 {
	req, err := http.NewRequest("GET", s.URL+"/metrics", nil)
	if err != nil {
		return math.NaN()
	}
	if s.Key != "" {
		req.Header.Set("X-API-Key", s.Key)
	}
	req.Close = true // a connection that is kept has goroutines
	resp, err := (&http.Client{Timeout: 10 * time.Second}).Do(req)
	if err != nil {
		return math.NaN()
	}
	defer resp.Body.Close()
	sum, found := 0.0, false
lines:
	for text := bufio.NewScanner(resp.Body); text.Scan(); {
		rest, ok := strings.CutPrefix(text.Text(), name)
		labels, figure, valued := strings.Cut(rest, " ")
		if !ok || !valued || labels != "" && labels[0] != '{' {
			continue
		}
		for _, w := range words {
			if !strings.Contains(labels, w) {
				continue lines
			}
		}
		if n, err := strconv.ParseFloat(figure, 64); err == nil {
			sum, found = sum+n, true
		}
	}
	if !found {
		return math.NaN()
	}
	return sum
}

// Stop ends the server as an operator does.
func (s *Server) Stop() error {
	_ = s.Cmd.Process.Signal(syscall.SIGTERM)
	<-s.eof
	if err := s.Cmd.Wait(); err != nil {
		return fmt.Errorf("the server ended badly: %w\n%s", err, s.Logged())
	}
	return nil
}

// Kill ends the server as a crash does.
func (s *Server) Kill() {
	_ = s.Cmd.Process.Kill()
	<-s.eof
	_ = s.Cmd.Wait()
}
