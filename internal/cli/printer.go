package cli

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"os"

	"github.com/sandbox-run/sandbox-run/pkg/api"
)

// The output formats.
const (
	formatText   = "text"
	formatJSON   = "json"
	formatNDJSON = "ndjson"
	formatRaw    = "raw"
)

// printer shows a run.
type printer interface {
	// event shows one event as it happens. Its error ends the run.
	event(e api.Event) error
	// notice tells of what belongs to no run: something slow that is prepared
	// before it, or what could not be cleaned up after it.
	notice(message string)
	// finish shows the result. written is what happened to --out, or nil.
	finish(r *api.Result, written *outDir) error
}

// output is where a run's output goes.
type output struct {
	stdout, stderr io.Writer
	// cutStdout and cutStderr bound what is passed on of the program's output.
	cutStdout, cutStderr cut
}

func newOutput(stdout, stderr *os.File, giveUp <-chan struct{}, f *runFlags) *output {
	o := &output{stdout: newPatientWriter(stdout, giveUp), stderr: newPatientWriter(stderr, giveUp)}
	if f.MaxOutput != nil {
		o.cutStdout = cut{on: true, left: int64(*f.MaxOutput)}
		o.cutStderr = o.cutStdout
	}
	return o
}

// cut passes on the first bytes of a stream.
type cut struct {
	on   bool
	left int64
	told bool
}

// take returns what may be passed on of p, and whether this is the first time
// that something may not.
func (c *cut) take(p string) (rest string, firstCut bool) {
	if !c.on || int64(len(p)) <= c.left {
		c.left -= int64(len(p))
		return p, false
	}
	p, c.left = p[:c.left], 0
	firstCut, c.told = !c.told, true
	return p, firstCut
}

// write passes program output on to the stream it was written to, and returns
// what of it came through and whether this is where it was cut.
func (o *output) write(kind api.EventType, data string) (shown string, firstCut bool, err error) {
	w, c := o.stdout, &o.cutStdout
	if kind == api.EventStderr {
		w, c = o.stderr, &o.cutStderr
	}
	shown, firstCut = c.take(data)
	if len(shown) > 0 {
		_, err = io.WriteString(w, shown)
	}
	return shown, firstCut, err
}

// written are the exact bytes of a stdout or stderr event.
func written(e api.Event) (string, error) {
	if e.DataBase64 == "" {
		return e.Data, nil
	}
	data, err := base64.StdEncoding.DecodeString(e.DataBase64)
	return string(data), err
}

// resultStderr are the exact bytes of a result's standard error.
func resultStderr(r *api.Result) []byte {
	if data, err := base64.StdEncoding.DecodeString(r.StderrBase64); err == nil && len(data) > 0 {
		return data
	}
	return []byte(r.Stderr)
}

// failedEarly tells that the run phase never came, so that a compiler's or
// installer's words are all there is.
func failedEarly(r *api.Result) bool {
	n := len(r.Phases)
	return !r.Success && n > 0 && r.Phases[n-1].Name != api.PhaseRun
}

// oursFailed tells that something of ours went wrong, which no format hides.
func oursFailed(r *api.Result) bool { return r.Status == api.StatusSandboxError }

// rawPrinter passes on the program's own bytes and nothing else. A compiler's
// are shown only when they are the end of it.
type rawPrinter struct {
	*output
	phase string
}

func (p *rawPrinter) event(e api.Event) error {
	switch e.Type {
	case api.EventPhase:
		p.phase = e.Name
	case api.EventStdout, api.EventStderr:
		if p.phase != "" && p.phase != api.PhaseRun {
			return nil
		}
		data, err := written(e)
		if err == nil {
			_, _, err = p.write(e.Type, data)
		}
		return err
	}
	return nil
}

func (p *rawPrinter) notice(string) {}

func (p *rawPrinter) finish(r *api.Result, written *outDir) error {
	if failedEarly(r) {
		if _, err := p.stderr.Write(resultStderr(r)); err != nil {
			return err
		}
	}
	return tellFailures(p.stderr, r, written)
}

// tellFailures says what went wrong on our side, where nothing else of ours is
// printed.
func tellFailures(w io.Writer, r *api.Result, written *outDir) (err error) {
	if oursFailed(r) {
		_, err = fmt.Fprintf(w, "sandbox-run: %s\n", printable(r.Message))
	}
	for _, failure := range written.failures() {
		_, err = fmt.Fprintf(w, "sandbox-run: %s\n", printable(failure))
	}
	return err
}

// jsonPrinter prints one object, at the end.
type jsonPrinter struct {
	*output
	indent bool
}

func (p *jsonPrinter) event(api.Event) error { return nil }
func (p *jsonPrinter) notice(string)         {}

func (p *jsonPrinter) finish(r *api.Result, written *outDir) error {
	data, err := encodeJSON(r, p.indent)
	if err != nil {
		return err
	}
	if _, err := p.stdout.Write(data); err != nil {
		return err
	}
	return tellFailures(p.stderr, &api.Result{}, written)
}

// ndjsonPrinter prints each event as a line, at once.
type ndjsonPrinter struct{ *output }

func (p *ndjsonPrinter) event(e api.Event) error {
	data, err := encodeJSON(e, false)
	if err == nil {
		_, err = p.stdout.Write(data)
	}
	return err
}

func (p *ndjsonPrinter) notice(string) {}

func (p *ndjsonPrinter) finish(_ *api.Result, written *outDir) error {
	return tellFailures(p.stderr, &api.Result{}, written)
}

// encodeJSON is one object and a newline, with < and > left readable.
func encodeJSON(v any, indent bool) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if indent {
		e.SetIndent("", "  ")
	}
	err := e.Encode(v)
	return b.Bytes(), err
}
