package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/sandbox-run/sandbox-run/internal/image"
)

// imageFlags is the grammar of verbs that are given images by name.
type imageFlags struct {
	Refs []string `arg:"" optional:"" name:"ref"`
	JSON bool     `name:"json" help:"Print JSON."`
}

type imageImportFlags struct {
	Path   string `arg:"" optional:"" name:"path"`
	Name   string `placeholder:"REF" help:"What the image is called here (default: the names that it has in the archive)."`
	Rootfs bool   `name:"rootfs" help:"The archive is a root file system, such as debootstrap and docker export make."`
	JSON   bool   `name:"json" help:"Print JSON."`
}

type imageBuildFlags struct {
	Name   string   `placeholder:"REF" help:"What the image is called (sandbox-run/default:latest)."`
	Suite  string   `placeholder:"S" help:"The release of Debian (trixie)."`
	Mirror []string `sep:"none" placeholder:"M" help:"Where packages come from: a URL, a line of sources.list or a file of such; each is one more (Debian's own servers)."`
	JSON   bool     `name:"json" help:"Print JSON."`
}

// imageVerbs is the grammar of what follows the verb image.
func imageVerbs() []verb {
	return []verb{
		{name: "image pull", help: "Get images from their registries, with the credentials of docker login.",
			grammar: func() any { return &imageFlags{} }, run: (*app).imagePull},
		{name: "image import", help: "Take the images of an OCI layout or of an archive of docker save, or a root file system; - is standard input.",
			grammar: func() any { return &imageImportFlags{} }, run: (*app).imageImport},
		{name: "image ls", help: "List the images.",
			grammar: func() any { return &listFlags{} }, run: (*app).imageList},
		{name: "image rm", help: "Remove names, and images with their last name; by its digest, an image and all its names.",
			grammar: func() any { return &imageFlags{} }, run: (*app).imageRemove},
		{name: "image build-default", help: "Make an image of Debian with Python, Node.js, Go, Rust and Java, by mmdebstrap.",
			grammar: func() any { return &imageBuildFlags{} }, run: (*app).imageBuild},
	}
}

// image picks what is to be done with images.
func (a *app) image(args []string) (int, error) {
	names := lastWords(imageVerbs())
	for i, v := range imageVerbs() {
		if len(args) > 0 && args[0] == names[i] {
			return v.run(a, args[1:])
		}
	}
	if len(args) > 0 && (args[0] == "-h" || args[0] == "--help") {
		return exitOK, a.help("image")
	}
	return 0, usageError{fmt.Errorf("image is followed by one of %s", join(names))}
}

// imageStore is the store of images for a verb that a signal calls off.
type imageStore struct {
	*image.Store
	stop     *stopper
	progress *imageProgress
}

// withImages does something with the store of images. What a signal has called off ends
// without a word.
func (a *app) withImages(showProgress bool, do func(imageStore) (int, error)) (int, error) {
	cfg, err := a.config(false)
	if err != nil {
		return 0, err
	}
	s := imageStore{stop: newStopper()}
	defer s.stop.release()
	if showProgress {
		s.progress = a.newImageProgress(s.stop)
	}
	if s.Store, err = openStore(cfg.DataDir, s.progress.show); err != nil {
		return 0, err
	}
	defer s.Close()
	code, err := do(s)
	if err != nil && s.stop.signal() != nil {
		err = errQuiet{signalCode(s.stop.signal())}
	}
	return code, imageError(err)
}

func openStore(dataDir string, progress func(image.Progress)) (*image.Store, error) {
	store, err := image.Open(image.Dir(dataDir), image.Options{Progress: progress})
	if errors.Is(err, fs.ErrPermission) {
		err = fmt.Errorf("%w; set SANDBOX_DATA_DIR to a directory that you may write", err)
	}
	return store, err
}

// hasImages tells whether there is a store; to look at none must not make one.
func hasImages(dataDir string) bool {
	_, err := os.Lstat(image.Dir(dataDir))
	return err == nil
}

// eachImage does something with each image that is named, one after the other: one that
// cannot be had does not keep the others away. Then it tells what has been done, also
// before a signal. needs completes what is said where none is named.
func (a *app) eachImage(verb, needs string, args []string, do func(s imageStore, ref string) error, tell func(asJSON, failed bool) error) (int, error) {
	f := &imageFlags{}
	help, err := a.parseVerb(verb, f, args)
	if err != nil || help {
		return exitOK, err
	}
	if len(f.Refs) == 0 {
		return 0, usageError{errors.New(verb + " needs " + needs)}
	}
	return a.withImages(true, func(s imageStore) (int, error) {
		code, err := a.forEach(s, f.Refs, do)
		if told := tell(f.JSON, err != nil || code != exitOK); err == nil {
			err = told
		}
		return code, err
	})
}

// forEach says what goes wrong with each image. The code is that of the first error; a
// signal ends it.
func (a *app) forEach(s imageStore, refs []string, do func(s imageStore, ref string) error) (code int, err error) {
	for _, ref := range refs {
		err := do(s, ref)
		s.progress.erase()
		if err == nil {
			continue
		}
		if s.stop.signal() != nil {
			return code, err
		}
		fmt.Fprintf(a.stderr, "sandbox-run: %s\n", printable(err.Error()))
		if code == exitOK {
			code = exitCodeOf(imageError(err))
		}
	}
	return code, nil
}

// imageError is a usage error where what was typed is wrong.
func imageError(err error) error {
	if errors.Is(err, image.ErrName) {
		return usageError{err}
	}
	return err
}
