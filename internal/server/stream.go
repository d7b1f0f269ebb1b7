package server

import (
	"fmt"
	"mime"
	"net/http"
	"strings"

	"github.com/sandbox-run/sandbox-run/pkg/api"
)

// The media types of a stream of events.
const (
	eventStream = "text/event-stream"
	ndjson      = "application/x-ndjson"
)

// stream writes events to a client as they happen. Nothing is kept: a client
// that does not read holds up the run that it asked for, and no other.
type stream struct {
	w       http.ResponseWriter
	control *http.ResponseController
	kind    string
	begun   bool
}

// newStream makes the stream that the Accept header asks for; nil if none.
func newStream(w http.ResponseWriter, r *http.Request) *stream {
	kind := accepted(r.Header.Values("Accept"))
	if kind == "" {
		return nil
	}
	return &stream{w: w, control: http.NewResponseController(w), kind: kind}
}

// accepted is the first kind of stream that is asked for, if any comes before
// plain JSON.
func accepted(accept []string) string {
	for entry := range strings.SplitSeq(strings.Join(accept, ","), ",") {
		switch kind, _, _ := mime.ParseMediaType(strings.TrimSpace(entry)); kind {
		case eventStream, ndjson:
			return kind
		case "application/json":
			return ""
		}
	}
	return ""
}

// send writes one event and sends it on its way.
func (s *stream) send(event api.Event) error {
	if !s.begun {
		s.begin()
	}
	text, err := encode(event)
	if err != nil {
		return err
	}
	if s.kind == eventStream {
		if _, err := fmt.Fprintf(s.w, "id: %d\nevent: %s\ndata: ", event.Seq, event.Type); err != nil {
			return err
		}
	}
	if err := text.writeTo(s.w); err != nil {
		return err
	}
	if s.kind == eventStream {
		if _, err := s.w.Write([]byte("\n")); err != nil { // the end of the event
			return err
		}
	}
	return s.control.Flush()
}

// begin sends the header. It waits for the first event: what is refused before
// it has a status of its own.
func (s *stream) begin() {
	s.begun = true
	header := s.w.Header()
	header.Set("Content-Type", s.kind)
	header.Set("Cache-Control", "no-store")
	header.Set("X-Accel-Buffering", "no") // nginx would collect the events
	s.w.WriteHeader(http.StatusOK)
}
