package executor

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/sandbox-run/sandbox-run/internal/fault"
	"github.com/sandbox-run/sandbox-run/pkg/api"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// Bounds of what comes out of a workspace without being named, and of what may
// be named.
const (
	defaultCollectFiles = 64
	defaultCollectBytes = 1 << 20
	maxCollectFiles     = 4096
	maxCollectBytes     = 64 << 20
	maxWalk             = 200_000 // names that are looked at
	// maxPath is the longest path that is collected: Linux opens no longer one.
	maxPath = 4096
	// maxRemembered bounds the paths that are remembered from before the run, in bytes
	// together. What is forgotten counts as changed.
	maxRemembered = 32 << 20
	// maxSkipped bounds what is said to have been skipped, maxSkippedText each path and
	// reason, in bytes.
	maxSkipped     = 1000
	maxSkippedText = 256
)

// collected is what came out of a workspace.
type collected struct {
	files   map[string]api.File
	skipped []api.SkippedFile
	err     error // of a caller's OnFile
}

// walkAll visits the names of a tree, until ctx is done.
func walkAll(ctx context.Context, tree sandbox.FileTree, visit func(sandbox.FileInfo) error) error {
	return tree.Walk(maxWalk, func(f sandbox.FileInfo) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		return visit(f)
	})
}

// snapshot remembers what the workspace holds before the program runs.
func snapshot(ctx context.Context, tree sandbox.FileTree) (map[string]sandbox.FileInfo, error) {
	before, left := map[string]sandbox.FileInfo{}, maxRemembered
	err := walkAll(ctx, tree, func(f sandbox.FileInfo) error {
		if left -= len(f.Path); left >= 0 {
			before[f.Path] = f
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("look at the workspace: %w", err)
	}
	return before, nil
}

// maxTick is longer than the clock of a file system stands still: 10 ms where the kernel has
// a hundred ticks a second, and more where it runs late.
const maxTick = 50 * time.Millisecond

// doubtfulInputs are those that may get other content of the same size without it showing in
// their time: before Linux 6.13 that is of the clock's last tick, which may be the one that they
// were written in. Of those with an earlier time than the latest it is not.
func (r *run) doubtfulInputs(before map[string]sandbox.FileInfo) map[string]InputFile {
	if time.Since(r.filled) > maxTick {
		return nil
	}
	inputs, latest := r.inputs(), time.Time{}
	for name := range inputs {
		if at := before[name].ModTime; at.After(latest) {
			latest = at
		}
	}
	maps.DeleteFunc(inputs, func(name string, _ InputFile) bool { return !before[name].ModTime.Equal(latest) })
	return inputs
}

// gatherFiles returns what the program made or changed.
func (r *run) gatherFiles(ctx context.Context, before map[string]sandbox.FileInfo) collected {
	g := gatherer{run: r, before: before, out: collected{files: map[string]api.File{}},
		filesLeft: defaultCollectFiles, bytesLeft: defaultCollectBytes, globs: newLeftovers(r.plan.Leftovers)}
	if r.req.Collect != nil {
		g.globs, g.named = newGlobs(r.req.Collect), true
	}
	if r.req.Collect != nil || r.req.OnFile != nil {
		g.filesLeft, g.bytesLeft = maxCollectFiles, maxCollectBytes
	}
	if r.req.Collect != nil && len(r.req.Collect) == 0 {
		return g.out
	}
	if r.req.OnFile != nil {
		g.bytesLeft = max(r.disk.Bytes, g.bytesLeft) // streamed, not held
	}
	if err := walkAll(ctx, r.workspace, g.visit); err != nil {
		g.out.err = fmt.Errorf("collect what the program has made: %w", err)
	}
	slices.SortFunc(g.out.skipped, func(a, b api.SkippedFile) int { return strings.Compare(a.Path, b.Path) })
	g.sayRest()
	return g.out
}

// sayRest tells of what has no line of its own.
func (g *gatherer) sayRest() {
	say := func(reason string, count int) {
		g.out.skipped = append(g.out.skipped, api.SkippedFile{Path: "…", Reason: fmt.Sprintf(reason, count)})
	}
	if g.untold > 0 {
		say("%d more were skipped", g.untold)
	}
	if g.deepest > 0 {
		say("%d directories lie too deep to be looked into", g.deepest)
	}
	if g.seen == maxWalk {
		say("no more than %d names are looked at", maxWalk)
	}
}

type gatherer struct {
	run       *run
	before    map[string]sandbox.FileInfo
	out       collected
	globs     *globs
	named     bool // globs are of what is wanted, and not of what is not
	filesLeft int
	bytesLeft int64
	untold    int // that were skipped, and are not in out
	seen      int // names
	deepest   int // directories as deep as a walk goes
}

func (g *gatherer) visit(f sandbox.FileInfo) error {
	g.seen++
	if f.Mode.IsDir() {
		if strings.Count(f.Path, "/") == sandbox.MaxWalkDepth-1 {
			g.deepest++
		}
		return nil
	}
	if g.unchanged(f) {
		return nil
	}
	if len(f.Path) > maxPath { // which it cannot be opened by, and globs take their time for it
		g.skip(f, fmt.Sprintf("the path is longer than %d bytes", maxPath))
		return nil
	}
	switch matched := g.globs.match(f.Path); {
	case g.globs.spent():
		g.skip(f, "not compared with the globs, which were too much work for the files before it")
	case matched != g.named:
	case !utf8.ValidString(f.Path):
		g.skip(f, "the name is not valid UTF-8")
	case !f.Mode.IsRegular() && !fault.Off("collect", "kinds of files"):
		g.skip(f, "not a regular file: "+kind(f.Mode))
	case g.filesLeft == 0:
		g.skip(f, "too many files")
	case f.Size > g.bytesLeft && !fault.Off("collect", "sizes"):
		g.skip(f, fmt.Sprintf("too large: %s, with %s left of what is collected", sandbox.FormatBytes(f.Size), sandbox.FormatBytes(g.bytesLeft)))
	default:
		return g.take(f)
	}
	return nil
}

// unchanged tells a file that is as it was before the program. One in doubt that cannot be read
// is not, so that it is told.
func (g *gatherer) unchanged(f sandbox.FileInfo) bool {
	old, ok := g.before[f.Path]
	if !ok || old.Inode != f.Inode || old.Size != f.Size || !old.ModTime.Equal(f.ModTime) {
		return false
	}
	input, doubtful := g.run.doubtful[f.Path]
	if !doubtful {
		return true
	}
	file, err := g.run.workspace.Open(f.Path)
	if err != nil {
		return false
	}
	defer file.Close()
	rest := expected(input.Content)
	_, err = io.Copy(&rest, io.LimitReader(file, f.Size))
	return err == nil && len(rest) == 0
}

// expected is a writer of the same once more. It fails where something else is written.
type expected []byte

func (e *expected) Write(p []byte) (int, error) {
	rest, same := bytes.CutPrefix(*e, p)
	if !same {
		return 0, errors.New("the content is another")
	}
	*e = rest
	return len(p), nil
}

func (g *gatherer) skip(f sandbox.FileInfo, reason string) {
	if len(g.out.skipped) == maxSkipped {
		g.untold++
		return
	}
	g.out.skipped = append(g.out.skipped, api.SkippedFile{Path: shortened(f.Path), Reason: shortened(reason)})
}

// shortened is the beginning of a text that a program may have made as long as it likes.
func shortened(text string) string {
	if len(text) <= maxSkippedText {
		return toUTF8([]byte(text))
	}
	head := []byte(text[:maxSkippedText])
	return toUTF8(head[:len(head)-cutRune(head)]) + "…"
}

func (g *gatherer) take(f sandbox.FileInfo) error {
	file, err := g.run.workspace.Open(f.Path)
	if err != nil {
		g.skip(f, "cannot be read: "+err.Error())
		return nil
	}
	defer file.Close()
	g.filesLeft--
	if on := g.run.req.OnFile; on != nil {
		g.bytesLeft -= f.Size
		return on(f, io.LimitReader(file, f.Size))
	}
	most := min(f.Size, g.bytesLeft) // it may have grown since it was looked at
	if fault.Off("collect", "sizes") {
		most = f.Size
	}
	var read strings.Builder // which becomes a string without a copy
	read.Grow(int(most))
	n, err := io.Copy(&read, io.LimitReader(file, most))
	if err != nil {
		g.skip(f, "cannot be read: "+err.Error())
		return nil
	}
	g.bytesLeft -= n
	content := read.String()
	out := api.File{Size: n, Mode: fmt.Sprintf("%04o", f.Mode.Perm()), Encoding: "utf8", Content: content}
	if !utf8.ValidString(content) || mostlyControls(content) {
		out.Encoding, out.Content = "base64", base64.StdEncoding.EncodeToString([]byte(content))
	}
	g.out.files[f.Path] = out
	return nil
}

// mostlyControls tells content that is no text, and six times as long in JSON.
func mostlyControls(content string) bool {
	n := 0
	for i := range len(content) {
		if c := content[i]; c < ' ' && c != '\n' && c != '\t' && c != '\r' {
			n++
		}
	}
	return 2*n > len(content)
}

func kind(m fs.FileMode) string {
	switch {
	case m&fs.ModeSymlink != 0:
		return "symbolic link"
	case m&fs.ModeNamedPipe != 0:
		return "named pipe"
	case m&fs.ModeSocket != 0:
		return "socket"
	}
	return "device"
}
