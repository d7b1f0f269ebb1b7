package e2b

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// A message of a Connect stream is a byte of flags, four bytes of length, most
// significant first, and so many bytes of JSON. The stream ends with a message
// that has flagEnd, and with the error, if there was one; the HTTP status is 200
// all the same.
const (
	flagEnd      = 0x02
	headerBytes  = 5
	maxMessageAt = 4 << 20 // envd sends 32 KiB of output at a time
)

func envelope(flags byte, payload []byte) []byte {
	out := make([]byte, headerBytes, headerBytes+len(payload))
	out[0] = flags
	binary.BigEndian.PutUint32(out[1:], uint32(len(payload)))
	return append(out, payload...)
}

// messages are what a stream carries.
type messages struct {
	where where
	body  io.ReadCloser
	in    *bufio.Reader
	buf   []byte
	ended bool
}

func newMessages(body io.ReadCloser, w where) *messages {
	return &messages{where: w, body: body, in: bufio.NewReaderSize(body, 64<<10)}
}

func (m *messages) close() { m.body.Close() }

// next decodes the next message into out. It returns io.EOF after an end without
// an error; a stream that just breaks off is a [*TransientError].
func (m *messages) next(out any) error {
	if m.ended {
		return io.EOF
	}
	flags, payload, err := m.read()
	if err != nil {
		m.ended = true
		var ours *TransientError
		if errors.As(err, &ours) {
			return ours
		}
		return &TransientError{Op: m.where.op, Err: err}
	}
	if flags&flagEnd != 0 {
		m.ended = true
		return m.end(payload)
	}
	if err := json.Unmarshal(payload, out); err != nil {
		m.ended = true
		return &TransientError{Op: m.where.op, Err: fmt.Errorf("a message of the stream cannot be read: %s", m.where.clean(err.Error()))}
	}
	return nil
}

func (m *messages) read() (flags byte, payload []byte, err error) {
	var header [headerBytes]byte
	if _, err := io.ReadFull(m.in, header[:]); err != nil {
		return 0, nil, brokenOff(err)
	}
	length := binary.BigEndian.Uint32(header[1:])
	switch flags = header[0]; {
	case flags&^flagEnd != 0:
		return 0, nil, fmt.Errorf("a message has the flags %#x, which were not asked for", flags)
	case length > maxMessageAt:
		return 0, nil, fmt.Errorf("a message of %d bytes is larger than any that envd sends", length)
	}
	if int(length) > cap(m.buf) {
		m.buf = make([]byte, length)
	}
	m.buf = m.buf[:length]
	if _, err := io.ReadFull(m.in, m.buf); err != nil {
		return 0, nil, brokenOff(err)
	}
	return flags, m.buf, nil
}

// brokenOff is the error of a stream that ended without saying so.
func brokenOff(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errors.New("the stream broke off")
	}
	return err
}

func (m *messages) end(payload []byte) error {
	var last struct {
		Error *struct{ Code, Message string } `json:"error"`
	}
	if err := json.Unmarshal(payload, &last); err != nil {
		return &TransientError{Op: m.where.op, Err: errors.New("the end of the stream cannot be read")}
	}
	if last.Error == nil {
		return io.EOF
	}
	return m.where.connect(m.where.clean(last.Error.Code), m.where.clean(last.Error.Message), 0)
}

// processMessage is one message of process.Process/Start. Fields that are zero
// are left out by the sender.
type processMessage struct {
	Event struct {
		Start *struct {
			PID uint32 `json:"pid"`
		} `json:"start"`
		Data *dataEvent `json:"data"`
		End  *endEvent  `json:"end"`
	} `json:"event"`
}

// dataEvent is output.
type dataEvent struct {
	Stdout []byte `json:"stdout"`
	Stderr []byte `json:"stderr"`
	PTY    []byte `json:"pty"`
}

// endEvent is how a process ended, in the words of Go's os.ProcessState.
type endEvent struct {
	ExitCode int32  `json:"exitCode"`
	Exited   bool   `json:"exited"`
	Status   string `json:"status"`
	Error    string `json:"error"`
}

// outcome is the exit code, or 128+n and the signal n.
func (e endEvent) outcome() (code, signal int, err error) {
	if name, ok := strings.CutPrefix(e.Status, "signal: "); ok {
		name = strings.TrimSuffix(name, " (core dumped)")
		if signal = signalNumber(name); signal == 0 {
			return 0, 0, fmt.Errorf("the program was ended by a signal that nobody knows: %.40q", name)
		}
		return 128 + signal, signal, nil
	}
	if number, ok := strings.CutPrefix(e.Status, "exit status "); ok {
		if code, err := strconv.Atoi(number); err == nil && code >= 0 && code < 256 {
			return code, 0, nil
		}
	}
	if e.ExitCode < 0 || e.ExitCode > 255 || e.ExitCode == 0 && !e.Exited {
		return 0, 0, fmt.Errorf("the program ended in a way that nobody knows: exit code %d, %.40q", e.ExitCode, e.Status)
	}
	return int(e.ExitCode), 0, nil
}

// signalNames are Linux's signals from 1 on, as Go calls them there.
const signalNames = "hangup,interrupt,quit,illegal instruction,trace/breakpoint trap,aborted,bus error," +
	"floating point exception,killed,user defined signal 1,segmentation fault,user defined signal 2,broken pipe," +
	"alarm clock,terminated,stack fault,child exited,continued,stopped (signal),stopped,stopped (tty input)," +
	"stopped (tty output),urgent I/O condition,CPU time limit exceeded,file size limit exceeded,virtual timer expired," +
	"profiling timer expired,window changed,I/O possible,power failure,bad system call"

// signalNumber is 0 for a name that is no signal's.
func signalNumber(name string) int {
	for i, known := range strings.Split(signalNames, ",") {
		if known == name {
			return i + 1
		}
	}
	if number, ok := strings.CutPrefix(name, "signal "); ok {
		if n, err := strconv.Atoi(number); err == nil && n > 0 && n <= 64 {
			return n
		}
	}
	return 0
}

// version is envd's, by which its features are told.
type version [3]int

// The versions from which envd has a feature.
var (
	versionCloseStdin  = version{0, 5, 2}
	versionOctetStream = version{0, 5, 7}
)

// parseVersion takes what is no version for the oldest one.
func parseVersion(s string) (v version) {
	core, _, _ := strings.Cut(strings.TrimPrefix(s, "v"), "-")
	for i, part := range strings.SplitN(core, ".", 3) {
		n, err := strconv.Atoi(part)
		if err != nil || n < 0 {
			return version{}
		}
		v[i] = n
	}
	return v
}

func (v version) has(feature version) bool {
	for i := range v {
		if v[i] != feature[i] {
			return v[i] > feature[i]
		}
	}
	return true
}

func (v version) String() string { return fmt.Sprintf("%d.%d.%d", v[0], v[1], v[2]) }
