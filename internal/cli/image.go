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

// parseImage reads the flags of one of the verbs of images.
func (a *app) parseImage(name string, flags any, args []string) (help bool, err error) {
	after, help, err := parse(flags, args)
	if err == nil && help {
		err = a.help(name)
	}
	if err == nil && len(after) > 0 {
		err = usageError{errors.New(name + " takes no arguments after --")}
	}
	return help, err
}

// openImages opens the store of images.
func (a *app) openImages(progress func(image.Progress)) (*image.Store, error) {
	cfg, err := a.config(false)
	if err != nil {
		return nil, err
	}
	return openStore(cfg.DataDir, progress)
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

// forEach does something with each image and tells what went wrong. The code is
// that of the first error; a signal ends it.
func (a *app) forEach(stop *stopper, refs []string, do func(ref string) error) (code int, err error) {
	for _, ref := range refs {
		err := do(ref)
		if err == nil {
			continue
		}
		if stop.signal() != nil {
			return code, errQuiet{signalCode(stop.signal())}
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
