package server

import (
	"net/http"
	"time"
)

const (
	// bodyTimeout is how long a body may take to arrive: a connection of 300 KiB a
	// second sends the largest default one in that time.
	bodyTimeout = time.Minute
	// answerTimeout is how long an answer may wait for its reader.
	answerTimeout = 30 * time.Second
	// maxWrite is what a reader has to take in that time, in bytes.
	maxWrite = 64 << 10
)

// seen is an answer that waits for no reader for ever, and remembers its status.
type seen struct {
	http.ResponseWriter
	control  *http.ResponseController
	patience time.Duration
	status   int
}

// watched bounds how long a request may take to arrive and its answer to be taken,
// whatever becomes of it: net/http has no deadline of its own for a body that nobody
// reads, which it waits for before the next request.
func (s *Server) watched(w http.ResponseWriter, r *http.Request) *seen {
	a := &seen{ResponseWriter: w, control: http.NewResponseController(w), patience: s.AnswerTimeout}
	if r.ContentLength != 0 { // without a body net/http reads on, and would take the deadline for the caller's end
		_ = a.control.SetReadDeadline(time.Now().Add(s.BodyTimeout)) // not every test server can
	}
	if r.ProtoMajor == 1 { // where 100 Continue is written before anything of ours; later versions end a stream that waits
		a.extend()
	}
	return a
}

// done takes the deadlines of a request of HTTP/2 back. A client may have reset its stream
// before they were set, and net/http keeps such a stream and its request until they pass: a flood
// of resets would have the server hold all of it for a minute. What waits to be written goes
// first, while there is a deadline.
func (a *seen) done(r *http.Request) {
	if r.ProtoMajor == 1 {
		return
	}
	if a.status != 0 {
		_ = a.control.Flush()
	}
	_ = a.control.SetReadDeadline(time.Time{})
	_ = a.control.SetWriteDeadline(time.Time{})
}

func (a *seen) extend() { _ = a.control.SetWriteDeadline(time.Now().Add(a.patience)) }

func (a *seen) WriteHeader(status int) {
	if a.status != 0 {
		return // a handler could not write its answer, and would say so in its place
	}
	a.status = status
	a.extend()
	a.ResponseWriter.WriteHeader(status)
}

// Write gives each part of a long answer time of its own.
func (a *seen) Write(p []byte) (written int, err error) {
	if a.status == 0 {
		a.status = http.StatusOK
	}
	for {
		a.extend()
		n, err := a.ResponseWriter.Write(p[:min(len(p), maxWrite)])
		written, p = written+n, p[n:]
		if err != nil || len(p) == 0 {
			return written, err
		}
	}
}

// Unwrap is for [http.ResponseController].
func (a *seen) Unwrap() http.ResponseWriter { return a.ResponseWriter }
