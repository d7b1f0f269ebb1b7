package guest

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

func TestLayer(t *testing.T) {
	w := start(t)
	_, source := w.tree(sandbox.WorkspaceDir)
	_, host := w.tree(sandbox.BuildDir)
	must(t, os.MkdirAll(source+"/a/b", 0o755), os.WriteFile(source+"/a/f", []byte("original"), 0o644), os.WriteFile(source+"/a/b/ü \n", []byte("odd"), 0o644))
	must(t, os.Symlink("a/f", source+"/link"), unix.Mkfifo(source+"/fifo", 0o644), os.Mkdir(source+"/empty", 0o755))
	must(t, w.makeLayer(Layer{sandbox.WorkspaceDir, sandbox.BuildDir}, maxLinks))
	got := w.sh("cd /build; cat a/f 'a/b/ü \n' link; echo own >a/g; rm a/f; echo other >a/f; cat a/f; ls /workspace/a; cat /workspace/a/f; find . -type l -exec echo x ';'")
	equal(t, "what a program sees", got.stdout, "originaloddoriginalother\nb\nf\noriginalx\nx\nx\n")
	for _, name := range []string{"a", "a/b", "empty"} {
		info, err := os.Lstat(host + "/" + name)
		must(t, err)
		equal(t, name, info.Mode(), 0o755|os.ModeDir)
	}
	to, err := os.Readlink(host + "/fifo")
	must(t, err)
	equal(t, "link", to, sandbox.WorkspaceDir+"/fifo")
	// It is not empty any more.
	if err := w.makeLayer(Layer{sandbox.WorkspaceDir, sandbox.BuildDir}, maxLinks); err == nil || !strings.Contains(err.Error(), sandbox.WorkspaceDir) {
		t.Error(err)
	}
	must(t, w.makeLayer(Layer{"/no/such", sandbox.BuildDir}, maxLinks)) // nothing in it
}

// TestLayerOfLongNames: a message holds so many names, however long they are.
func TestLayerOfLongNames(t *testing.T) {
	w := start(t)
	_, source := w.tree(sandbox.WorkspaceDir)
	_, host := w.tree(sandbox.BuildDir)
	deep := source + strings.Repeat("/"+strings.Repeat("d", 200), 4)
	must(t, os.MkdirAll(deep, 0o755))
	const files = 2*linksAtOnce + 1
	for i := range files {
		must(t, os.WriteFile(fmt.Sprintf("%s/%04d%s", deep, i, strings.Repeat("f", 200)), nil, 0o644))
	}
	must(t, w.makeLayer(Layer{sandbox.WorkspaceDir, sandbox.BuildDir}, maxLinks))
	entries, err := os.ReadDir(strings.Replace(deep, source, host, 1))
	must(t, err)
	equal(t, "links", len(entries), files)
}

// TestLayerFailure: a container whose layer cannot be made is none.
func TestLayerFailure(t *testing.T) {
	for _, layer := range []Layer{{"/usr", "/no/such"}, {"/usr", "/proc"}} {
		w := start(t)
		if err := w.makeLayer(layer, maxLinks); err == nil || !strings.Contains(err.Error(), layer.Source) {
			t.Errorf("%+v: %v", layer, err)
		}
		must(t, w.Delete(context.Background()))
	}
	w := start(t)
	w.opts.Layers = []Layer{{"/usr", smallDir}} // which has not so many inodes
	if err := w.prepare(); err == nil || !strings.Contains(err.Error(), "no space left") {
		t.Errorf("%v", err)
	}
}
