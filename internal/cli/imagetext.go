package cli

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/sandbox-run/sandbox-run/internal/image"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// imageRow is an image as JSON prints it.
type imageRow struct {
	Names []string `json:"names"`
	image.Image
}

func imageRows(images []image.Image) []imageRow {
	rows := []imageRow{}
	for _, img := range images {
		rows = append(rows, imageRow{append([]string{}, img.Names...), img})
	}
	return rows
}

// shortDigest is as much of a digest as names an image.
func shortDigest(img image.Image) string {
	digits := strings.TrimPrefix(img.Digest, "sha256:")
	return digits[:min(len(digits), 12)]
}

// imageLines say of each image what it is called, and what it took.
func imageLines(images []image.Image) string {
	var b strings.Builder
	for _, img := range images {
		fmt.Fprintf(&b, "%s  %s, %s", strings.Join(append(img.Names, shortDigest(img)), "  "), plural(int(img.Files), "file"), sandbox.FormatBytes(img.Bytes))
		if n := img.LeftOut.Count; n > 0 {
			fmt.Fprintf(&b, ", %d left out (--json says what)", n)
		}
		b.WriteString("\n")
	}
	return b.String()
}

// imageTable has a line for each name, as each can be run and removed.
func imageTable(images []image.Image) string {
	if len(images) == 0 {
		return "there are no images: sandbox-run image pull REF gets one\n"
	}
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "NAME\tDIGEST\tSIZE\tFILES\tADDED")
	for _, img := range images {
		names := img.Names
		if len(names) == 0 {
			names = []string{"-"}
		}
		for _, name := range names {
			fmt.Fprintf(w, "%s\t%s\t%s\t%d\t%s\n", printable(name), shortDigest(img), sandbox.FormatBytes(img.Bytes), img.Files, agoText(time.Since(img.Added)))
		}
	}
	w.Flush()
	return b.String()
}

// agoText says how long ago something was, as roughly as a person would.
func agoText(d time.Duration) string {
	switch {
	case d < time.Minute:
		return "just now"
	case d < time.Hour:
		return plural(int(d.Minutes()), "minute") + " ago"
	case d < 24*time.Hour:
		return plural(int(d.Hours()), "hour") + " ago"
	}
	return plural(int(d.Hours()/24), "day") + " ago"
}

// imageProgress shows on a terminal how far an image is, in one line that is gone
// in the end. A nil imageProgress does nothing.
type imageProgress struct {
	w     io.Writer
	width int
	shown bool
}

func (a *app) newImageProgress(stop *stopper) *imageProgress {
	if !isTerminal(a.stderr) || dumbTerminal(a.environ) {
		return nil
	}
	return &imageProgress{w: newPatientWriter(a.stderr, stop.giveUp), width: int(terminalSize(a.stderr).Cols)}
}

// show is called once at a time.
func (p *imageProgress) show(now image.Progress) {
	if p == nil {
		return
	}
	p.shown = true
	io.WriteString(p.w, eraseLine+progressText(now, p.width-1))
}

// erase removes the line. Nobody may show anything meanwhile.
func (p *imageProgress) erase() {
	if p != nil && p.shown {
		io.WriteString(p.w, eraseLine)
		p.shown = false
	}
}

// progressText is one line of at most so many columns: what is longer could not be
// erased. Of a long name the end is kept, which tells images apart.
func progressText(now image.Progress, width int) string {
	text := fmt.Sprintf(": %sing %s", now.Step, sandbox.FormatBytes(now.Done))
	if now.Total > 0 {
		text += fmt.Sprintf(" of %s (%d %%)", sandbox.FormatBytes(now.Total), 100*now.Done/now.Total)
	}
	name := []rune(printable(now.Image))
	if room := max(width-len(text), 0); len(name) > room {
		name = name[len(name)-room:]
	}
	return string(name) + text
}
