package main

import (
	"cmp"
	"encoding/base64"
	"fmt"
	"syscall"
	"time"
	"unicode/utf8"

	"github.com/sandbox-run/sandbox-run/internal/config"
	"github.com/sandbox-run/sandbox-run/pkg/api"
)

// transcript remembers as much of a stream of events as a result needs that the
// server cannot send any more: because we have left, or because it has.
type transcript struct {
	began  time.Time
	events int64
	run    api.Result // what is known so far
	output map[api.EventType]*excerpt
	keep   int64
	runAt  time.Time // when the last phase began
}

func newTranscript(keep int64) *transcript {
	t := &transcript{began: time.Now(), keep: cmp.Or(keep, config.Default().MaxOutputBytes)}
	t.clear()
	return t
}

// clear forgets the output of a phase that is over.
func (t *transcript) clear() {
	t.output = map[api.EventType]*excerpt{api.EventStdout: {most: t.keep}, api.EventStderr: {most: t.keep}}
}

func (t *transcript) begun() bool { return t.events > 0 }

func (t *transcript) add(e api.Event) {
	t.events = e.Seq
	switch e.Type {
	case api.EventStart:
		t.run.ID, t.run.Language, t.run.Version = e.ID, e.Language, e.Version
	case api.EventPhase:
		t.phase(e)
	case api.EventStdout, api.EventStderr:
		data, err := base64.StdEncoding.DecodeString(e.DataBase64)
		if err != nil || len(data) == 0 {
			data = []byte(e.Data)
		}
		t.output[e.Type].add(data)
	case api.EventMetrics:
		if e.Metrics != nil {
			t.run.Metrics = *e.Metrics
		}
	case api.EventWarning:
		t.run.Meta.Warnings = append(t.run.Meta.Warnings, e.Message)
	}
}

func (t *transcript) phase(e api.Event) {
	if e.State == api.PhaseBegin {
		t.clear()
		t.run.Phases = append(t.run.Phases, api.Phase{Name: e.Name, ExitCode: -1})
		t.runAt = time.Now()
		return
	}
	if n := len(t.run.Phases); n > 0 {
		t.run.Phases[n-1].Status = e.Status
	}
}

// result is that of a run whose caller has left, and which the server then kills,
// or which err has cut off.
func (t *transcript) result(cancelled bool, err error) *api.Result {
	r := t.run
	r.ExitCode = -1
	r.Meta.Runtime = "remote"
	if cancelled {
		r.Status, r.Message = api.StatusCancelled, "The run was cancelled"
	} else {
		again := true
		r.Status, r.Message, r.Retryable = api.StatusSandboxError, "The sandbox failed: "+err.Error(), &again
	}
	var cut [2]bool
	r.Stdout, r.StdoutBase64, cut[0] = t.output[api.EventStdout].text()
	r.Stderr, r.StderrBase64, cut[1] = t.output[api.EventStderr].text()
	r.Meta.Truncated = cut[0] || cut[1]
	if n := len(r.Phases); n > 0 && r.Phases[n-1].Status == "" {
		t.stopped(&r, &r.Phases[n-1])
	}
	return &r
}

// stopped completes the phase that was going on.
func (t *transcript) stopped(r *api.Result, last *api.Phase) {
	if r.Status == api.StatusCancelled {
		r.ExitCode, r.Signal = 128+int(syscall.SIGKILL), "SIGKILL"
	}
	if last.Name == api.PhaseRun {
		r.ExecutionTime = time.Since(t.runAt).Seconds()
	}
	last.Status, last.ExitCode, last.Signal = r.Status, r.ExitCode, r.Signal
	last.Stdout, last.Stderr, last.Metrics = r.Stdout, r.Stderr, r.Metrics
}

// last is the event that ends every stream.
func (t *transcript) last(r *api.Result) api.Event {
	return api.Event{Seq: t.events + 1, T: time.Since(t.began).Seconds(), Type: api.EventResult, Result: r}
}

// excerpt keeps the head and the tail of a stream.
type excerpt struct {
	most       int64
	total      int64
	head, tail []byte
}

func (x *excerpt) add(data []byte) {
	x.total += int64(len(data))
	n := min(int(x.most-x.most/2)-len(x.head), len(data))
	x.head = append(x.head, data[:n]...)
	x.tail = append(x.tail, data[n:]...)
	if most := int(x.most / 2); len(x.tail) > 2*most { // not at each byte
		x.tail = append([]byte(nil), x.tail[len(x.tail)-most:]...)
	}
}

// text is what was kept, as a result carries it.
func (x *excerpt) text() (text, exact string, cut bool) {
	head, tail := x.head, x.tail
	if cut = x.total > x.most; cut {
		// Runes that the cut has split are left out, not shown as broken.
		head, tail = wholeEnd(head), wholeBegin(tail[len(tail)-int(x.most/2):])
		missing := x.total - int64(len(head)+len(tail))
		head = fmt.Appendf(head[:len(head):len(head)], "\n[… %d bytes left out …]\n", missing)
	}
	content := append(head[:len(head):len(head)], tail...)
	if !utf8.Valid(content) {
		exact = base64.StdEncoding.EncodeToString(content)
	}
	return string([]rune(string(content))), exact, cut // each bad byte is a U+FFFD
}

func wholeEnd(b []byte) []byte {
	for n := 1; n < utf8.UTFMax && n <= len(b); n++ {
		if at := b[len(b)-n:]; utf8.RuneStart(at[0]) && !utf8.FullRune(at) {
			return b[:len(b)-n]
		}
	}
	return b
}

func wholeBegin(b []byte) []byte {
	for n := 1; n < utf8.UTFMax && len(b) > 0 && !utf8.RuneStart(b[0]); n++ {
		b = b[1:]
	}
	return b
}
