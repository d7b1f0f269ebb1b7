package e2b

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// Bounds of what is held while the launcher has not spoken.
const (
	maxFirstLine = 256
	maxHeldBytes = 1 << 20
)

// maxLate is how many keep-alives a stream may have when everything is dead, and maxLateBytes what
// may come of what was written before: pipes and connections hold far less.
const (
	maxLate      = 3
	maxLateBytes = 64 << 20
)

// readAll reads the stream to its end. While a writer blocks nothing is read, so
// the connection fills, then envd's pipe, and the program waits.
func (pr *process) readAll() {
	defer close(pr.read)
	defer pr.stream.close()
	in := intake{pr: pr, stdout: pr.spec.Stdout, stderr: pr.spec.Stderr}
	for {
		silent := time.AfterFunc(pr.c.rt.idle, func() { pr.cancel(errSilent) })
		var m processMessage
		since := time.Now()
		err := pr.stream.next(&m)
		silent.Stop()
		switch event := m.Event; {
		case err != nil:
			pr.readErr = pr.broken(err)
			return
		case event.End == nil && in.goesOn(since, event.Data):
			in.err = errGoesOn
		case event.Start != nil:
			pr.mu.Lock()
			pr.pid = event.Start.PID
			pr.mu.Unlock()
		case event.Data != nil:
			in.take(event.Data.Stdout, event.Data.Stderr, event.Data.PTY)
		case event.End != nil:
			pr.last = *event.End
			return
		case pr.dead.Load(): // a keep-alive of nobody
			if in.late++; in.late > maxLate {
				in.err = errGoesOn
			}
		}
		if in.err != nil {
			pr.readErr = in.err
			return
		}
	}
}

var errGoesOn = &TransientError{Op: "follow the process", Err: errors.New("everything is dead, but the stream goes on")}

var errSilent = errors.New("the stream of the process fell silent: not even a keep-alive came")

// broken is why a stream ended without the process's end.
func (pr *process) broken(err error) error {
	if errors.Is(err, io.EOF) {
		err = errors.New("the process ended without saying how")
	}
	if cause := context.Cause(pr.ctx); cause != nil {
		err = cause
	}
	if pr.ctx.Err() != nil && !errors.Is(err, errSilent) {
		return err // it was called off
	}
	var typed interface{ Is(error) bool }
	if errors.As(err, &typed) {
		return err
	}
	return &TransientError{Op: "follow the process", Err: err}
}

// intake hands output on, once the launcher has said its line on standard error,
// or on the terminal. What comes before that on standard output is held.
type intake struct {
	pr             *process
	stdout, stderr io.Writer
	started        bool
	line, held     []byte
	late           int           // keep-alives
	waited         time.Duration // since the program was killed
	came           int           // bytes since then
	err            error
}

// goesOn tells whether too much has come since the program was killed, or has been waited for for
// too long, whatever it was. A slow reader of ours is none of the service's.
func (in *intake) goesOn(since time.Time, data *dataEvent) bool {
	killed := in.pr.killed.Load()
	if killed == nil {
		return false
	}
	if since.Before(*killed) {
		since = *killed
	}
	in.waited += time.Since(since)
	if data != nil {
		in.came += len(data.Stdout) + len(data.Stderr) + len(data.PTY)
	}
	return in.waited > in.pr.c.rt.late || in.came > maxLateBytes
}

func (in *intake) take(stdout, stderr, pty []byte) {
	stdout = append(stdout, pty...) // one of the two is empty
	if !in.started {
		if in.pr.spec.TTY != nil {
			stdout, stderr = nil, stdout
		}
		if len(in.held)+len(stdout) > maxHeldBytes {
			in.err = &TransientError{Op: "start " + in.pr.spec.Args[0], Err: errors.New("the launcher says nothing")}
			return
		}
		in.held = append(in.held, stdout...)
		rest, spoken := in.firstLine(stderr)
		if !spoken {
			return
		}
		stdout, stderr, in.held = in.held, rest, nil
		if in.pr.spec.TTY != nil {
			stdout, stderr = stderr, nil
		}
	}
	in.stdout = in.write(in.stdout, stdout)
	in.stderr = in.write(in.stderr, stderr)
}

// firstLine takes the launcher's line and returns what stands behind it.
func (in *intake) firstLine(b []byte) (rest []byte, spoken bool) {
	in.line = append(in.line, b...)
	at := bytes.IndexByte(in.line, '\n')
	if at < 0 {
		if len(in.line) > maxFirstLine {
			in.err = &TransientError{Op: "start " + in.pr.spec.Args[0], Err: fmt.Errorf("the launcher says %.80q", in.line)}
		}
		return nil, false
	}
	said, rest := strings.TrimSuffix(string(in.line[:at]), "\r"), in.line[at+1:]
	in.started, in.line = true, nil
	in.pr.startup <- in.pr.refused(said)
	return rest, true
}

// refused is what the launcher's line means.
func (pr *process) refused(line string) error {
	program := pr.spec.Args[0]
	switch line {
	case "+":
		return nil
	case "-none":
		return &sandbox.StartError{Program: program, Err: fs.ErrNotExist}
	case "-denied":
		return &sandbox.StartError{Program: program, Err: fs.ErrPermission}
	case "-dir":
		return &sandbox.StartError{Program: program, Err: fmt.Errorf("the working directory %s cannot be entered", pr.spec.Dir)}
	case "-" + sandbox.LimitOpenFiles, "-" + sandbox.LimitProcesses, "-" + sandbox.LimitCPUTime, "-" + sandbox.LimitDisk:
		return &sandbox.UnsupportedError{What: "the " + line[1:] + " limit", Reason: "the template has a lower one", Mend: "Ask for less"}
	}
	return &TransientError{Op: "start " + program, Err: fmt.Errorf("the launcher says %.80q", line)}
}

// write hands bytes to a writer and returns the one for the next. When one fails
// the run is ended, and the rest is dropped.
func (in *intake) write(to io.Writer, b []byte) io.Writer {
	if to == nil || len(b) == 0 {
		return to
	}
	_, err := to.Write(b)
	if err == nil {
		return to
	}
	pr := in.pr
	pr.mu.Lock()
	first := pr.writeErr == nil
	if first {
		pr.writeErr = err
	}
	pr.mu.Unlock()
	if first {
		pr.killing.Go(func() { _ = pr.Kill() })
	}
	return nil
}

// inputSize is one piece of standard input: it is a message of its own, which is
// answered when the program's pipe has taken it.
const inputSize = 16 << 10

// feed copies the caller's input. It may outlive the program while the caller's
// reader blocks, and ends at the next byte.
func (pr *process) feed() {
	buf := make([]byte, inputSize)
	for {
		n, err := pr.spec.Stdin.Read(buf)
		if n > 0 && pr.send(buf[:n]) != nil {
			return
		}
		if err != nil {
			break
		}
	}
	if pr.spec.TTY != nil {
		_ = pr.send([]byte{4}) // end of input on a terminal, VEOF
		return
	}
	body := map[string]selector{"process": {pr.number()}}
	_ = pr.c.envd.unary(pr.ctx, "close standard input", "/process.Process/CloseStdin", body, nil)
}

func (pr *process) number() uint32 {
	pr.mu.Lock()
	defer pr.mu.Unlock()
	return pr.pid
}

// send waits as long as the program does not read: only its end cuts that short.
func (pr *process) send(b []byte) error {
	type input struct {
		Stdin []byte `json:"stdin,omitempty"`
		PTY   []byte `json:"pty,omitempty"`
	}
	body := struct {
		Process selector `json:"process"`
		Input   input    `json:"input"`
	}{Process: selector{pr.number()}}
	if pr.spec.TTY != nil {
		body.Input.PTY = b
	} else {
		body.Input.Stdin = b
	}
	return pr.c.envd.patiently(pr.ctx, "send standard input", "/process.Process/SendInput", sandbox.UserName, body)
}

// watch reads the watcher's lines. That it breaks off says nothing about the
// program, whose own stream is then all there is.
func (pr *process) watch() {
	var line strings.Builder
	p := shellProcess(watchScript, number(int64(pr.number())))
	end, err := pr.c.envd.follow(pr.ctx, "watch the process", rootUser, p, func(stdout, _ []byte) error {
		for _, b := range stdout {
			if b != '\n' {
				line.WriteByte(b)
				continue
			}
			pr.figures(line.String())
			line.Reset()
		}
		if line.Len() > maxFirstLine {
			return errors.New("a line of the watcher has no end")
		}
		return nil
	})
	if code, _, bad := end.outcome(); err == nil && bad == nil && code == 0 {
		close(pr.noted)
	}
}

// ticksPerSecond is USER_HZ, which Linux has the same everywhere. No figure is above
// maxFigure, 21 years of CPU time, so that sums do not overflow, and no page of memory
// is larger than maxPage.
const (
	ticksPerSecond = 100
	maxFigure      = 1 << 36
	maxPage        = 1 << 20
)

// figures takes a line of the watcher: how full the disk is, or user and system
// time of the process, those of the children it has waited for, and its memory.
func (pr *process) figures(line string) {
	words := strings.Fields(line)
	var n [5]int64
	for i := 1; i < min(len(words), 6); i++ {
		v, err := strconv.ParseInt(words[i], 10, 64)
		if err != nil || v < 0 || v > maxFigure {
			return
		}
		n[i-1] = v
	}
	if len(words) != 6 {
		return
	}
	if words[0] != "stat" {
		pr.c.note(words[0], n)
		return
	}
	const tick = time.Second / ticksPerSecond
	user, system := time.Duration(n[0]+n[2])*tick, time.Duration(n[1]+n[3])*tick
	memory := n[4] * pr.c.facts.page
	pr.mu.Lock()
	defer pr.mu.Unlock()
	m := &pr.metrics
	peak := memory
	if m.MemoryPeakBytes != nil {
		peak = max(peak, *m.MemoryPeakBytes)
	}
	m.CPUUser, m.CPUSystem, m.MemoryBytes, m.MemoryPeakBytes = &user, &system, &memory, &peak
	m.Sources = map[string]string{"cpu_user_s": "runtime", "cpu_system_s": "runtime", "cpu_time_s": "runtime", "memory_peak_bytes": "runtime"}
}

// note remembers how full a disk is: a line of stat -f, in blocks.
func (c *container) note(disk string, n [5]int64) {
	size, blocks, free, inodes, left := n[0], n[1], n[2], n[3], n[4]
	if size == 0 || size > 1<<20 || blocks > 1<<40 || free > blocks || left > inodes {
		return
	}
	usage := sandbox.DiskUsage{
		BytesTotal: size * blocks, BytesUsed: size * (blocks - free), BlockBytes: size,
		InodesTotal: inodes, InodesUsed: inodes - left,
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case !c.facts.tmpfs: // the whole machine's disk is no limit of ours
	case disk == "disk":
		c.disk = usage
	case disk == "build":
		c.build = usage
	}
}

// sweepOrBreak kills every process of the sandbox's user. Where that does not work,
// tried again within the time of one request, the sandbox is deleted, and with it
// whatever runs there.
func (c *container) sweepOrBreak() error {
	ctx, cancel := context.WithTimeoutCause(c.alive, c.rt.client.options.RequestTimeout, errSlow)
	defer cancel()
	var out said
	err := again(ctx, func() (err error) {
		out, err = c.envd.script(ctx, "kill what is left", rootUser, sweepScript, strconv.Itoa(c.facts.uid), strconv.Itoa(c.facts.gid))
		return err
	})
	if err == nil && out.code == 0 && strings.HasSuffix(out.stdout, "swept yes\n") {
		c.swept(out.stdout)
		return nil
	}
	if isDone(c.alive.Done()) {
		return nil
	}
	if err == nil {
		err = &TransientError{Op: "kill what is left", Err: fmt.Errorf("the program goes on (exit code %d): %s", out.code, where{}.clean(out.stderr))}
	}
	c.mu.Lock()
	c.broken = fmt.Errorf("the sandbox was deleted, because its processes could not be killed: %w", err)
	err = c.broken
	c.mu.Unlock()
	return errors.Join(err, c.rt.client.kill(context.WithoutCancel(c.alive), c.envd.id))
}

// swept takes the figures of a sweep.
func (c *container) swept(lines string) {
	for line := range strings.SplitSeq(lines, "\n") {
		words := strings.Fields(line)
		var n [5]int64
		for i := 1; i < min(len(words), 6); i++ {
			n[i-1], _ = strconv.ParseInt(words[i], 10, 64)
		}
		switch {
		case len(words) == 6 && min(n[0], n[1], n[2], n[3], n[4]) >= 0:
			c.note(words[0], n)
		case len(words) == 2 && words[0] == "oom" && n[0] >= 0:
			c.mu.Lock()
			c.oom = n[0]
			c.mu.Unlock()
		}
	}
}

// portable tells the signals whose numbers are the same on every system.
func portable(sig syscall.Signal) bool {
	switch sig {
	case 1, 2, 3, 6, 8, 9, 11, 13, 14, 15:
		return true
	}
	return runtime.GOOS == "linux" && sig > 0 && sig <= 64
}
