package cli

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync"

	"github.com/sandbox-run/sandbox-run/pkg/api"
)

// textPrinter shows a run to a person: the program's standard output on ours,
// everything else on standard error. Lines of ours begin with a rule, so that
// they are told from the program's in a log without colours.
type textPrinter struct {
	*output
	quiet   bool
	traced  bool // denied system calls, so that there were none is worth a line
	paint   paint
	spinner *spinner
	// shared means that both streams end up in the same place, as on a
	// terminal, so that a line begun on one is continued on the other.
	shared bool
	// eol ends our lines; a terminal in raw mode needs a carriage return too.
	eol string

	mu      sync.Mutex // against notices, which come from other goroutines
	phase   string
	midLine bool
	early   bool // something of a phase before the run was shown
	warned  map[string]bool
}

func newTextPrinter(o *output, a *app, f *runFlags) *textPrinter {
	terminal := isTerminal(a.stderr)
	p := &textPrinter{
		output: o, quiet: f.Quiet, traced: f.TraceDenied, eol: "\n",
		paint:  newPaint(f.Color, terminal, a.environ),
		shared: sameFile(a.stdout, a.stderr),
		warned: map[string]bool{},
	}
	if terminal && !f.Quiet && !dumbTerminal(a.environ) {
		p.spinner = &spinner{w: o.stderr}
	}
	return p
}

func sameFile(a, b *os.File) bool {
	x, err := a.Stat()
	if err != nil {
		return false
	}
	y, err := b.Stat()
	return err == nil && os.SameFile(x, y)
}

func (p *textPrinter) event(e api.Event) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch e.Type {
	case api.EventStart:
		return p.line(p.paint.text(styleDim, "── "+printable(strings.TrimSpace(e.Language+" "+e.Version))))
	case api.EventPhase:
		p.enter(e)
	case api.EventWarning:
		return p.warn(e.Message)
	case api.EventStdout, api.EventStderr:
		return p.program(e)
	}
	return nil
}

// enter follows the phases, with a spinner over those before the run.
func (p *textPrinter) enter(e api.Event) {
	p.spinner.stop()
	p.phase = e.Name
	if e.State == api.PhaseBegin && beforeRun(e.Name) {
		p.spinner.start(map[string]string{api.PhaseCompile: "compiling", api.PhaseInstall: "installing"}[e.Name])
	}
}

// beforeRun tells the phases before the run.
func beforeRun(phase string) bool { return phase != "" && phase != api.PhaseRun }

// program passes output on. What compilers and installers say goes to standard
// error, whichever stream they used.
func (p *textPrinter) program(e api.Event) error {
	data, err := written(e)
	if err != nil || len(data) == 0 {
		return err
	}
	if p.quiet && p.phase == api.PhaseInstall {
		return nil // finish has it if it failed
	}
	p.spinner.stop()
	kind := e.Type
	if beforeRun(p.phase) {
		kind, p.early = api.EventStderr, true
	}
	shown, firstCut, err := p.write(kind, data)
	if len(shown) > 0 && (kind == api.EventStderr || p.shared) {
		p.midLine = shown[len(shown)-1] != '\n'
	}
	if err == nil && firstCut {
		err = p.line(p.paint.text(styleYellow, fmt.Sprintf("── %s is cut here (--max-output)", kind)))
	}
	return err
}

func (p *textPrinter) warn(message string) error {
	if p.warned[message] {
		return nil
	}
	p.warned[message] = true
	return p.line(p.paint.text(styleYellow, "── warning: "+printable(message)))
}

func (p *textPrinter) notice(message string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	// A reader of standard error that went away is noticed by the next write
	// that matters.
	_ = p.line(p.paint.text(styleDim, "── "+printable(message)))
}

// line prints a line of ours on a line of its own.
func (p *textPrinter) line(s string) error {
	if p.quiet {
		return nil
	}
	p.spinner.stop()
	if p.midLine {
		s = p.eol + s
	}
	p.midLine = false
	_, err := io.WriteString(p.stderr, s+p.eol)
	return err
}

func (p *textPrinter) finish(r *api.Result, written *outDir) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.spinner.stop()
	if text := resultStderr(r); failedEarly(r) && !p.early && len(text) > 0 {
		p.midLine = text[len(text)-1] != '\n'
		if _, err := p.stderr.Write(text); err != nil {
			return err
		}
	}
	if p.quiet {
		return tellFailures(p.stderr, r, written)
	}
	for _, line := range p.summary(r, written) {
		if err := p.line(line); err != nil {
			return err
		}
	}
	return nil
}

// summary is what is said after the program's output: the figures first, then
// what went wrong and what is worth knowing.
func (p *textPrinter) summary(r *api.Result, written *outDir) []string {
	lines := []string{p.figures(r)}
	if r.Message != "" {
		lines = append(lines, "── "+p.paint.text(styleBold, printable(r.Message)))
	}
	if r.Limit != nil {
		lines = append(lines, p.paint.text(styleDim, "── "+limitText(r.Limit)))
	}
	for _, w := range r.Meta.Warnings {
		if !p.warned[w] {
			lines = append(lines, p.paint.text(styleYellow, "── warning: "+printable(w)))
		}
	}
	lines = append(lines, p.list(styleYellow, "denied", r.Meta.Violations)...)
	if p.traced && len(r.Meta.Violations) == 0 && r.ExitCode >= 0 {
		lines = append(lines, p.paint.text(styleDim, "── denied: no system call"))
	}
	// The program was only told that its connection ended.
	lines = append(lines, p.list(styleDim, "network", r.Meta.Network.Failures)...)
	if written == nil {
		return lines
	}
	lines = append(lines, p.paint.text(styleDim, "── "+printable(written.summary())))
	for _, s := range r.FilesSkipped {
		lines = append(lines, p.paint.text(styleYellow, "── left out: "+printable(s.Path+": "+s.Reason)))
	}
	for _, failure := range written.failures() {
		lines = append(lines, p.paint.text(styleRed, "── "+printable(failure)))
	}
	return lines
}

// maxListed is how many lines of a kind are shown: a program that scans a network
// has no end of them.
const maxListed = 10

func (p *textPrinter) list(style, label string, texts []string) (lines []string) {
	for i, text := range texts {
		if i == maxListed {
			text = fmt.Sprintf("%d more; --json has them all", len(texts)-i)
		}
		lines = append(lines, p.paint.text(style, "── "+label+": "+printable(text)))
		if i == maxListed {
			break
		}
	}
	return lines
}
