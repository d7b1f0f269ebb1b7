// Package esbuild is the TypeScript compiler that runs inside a sandbox: the
// program's own executable is mounted into the container and started with a
// hidden first argument. It is a package of its own so that what links the
// compiler is a choice.
//
// It bundles the entry and all that it imports into one file, by default as
// CommonJS; when the source needs an ES module (await outside of functions), as
// that. What a program can see of its own place is that of its source, not of
// the bundle: __dirname, __filename, import.meta.url, process.argv[1], and, by
// a source map, stack traces.
//
// Not everything survives a bundle: import() of a computed path finds nothing,
// and of two top-level functions with one name in two files, one has a number
// behind its name.
package esbuild

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/evanw/esbuild/pkg/api"
)

// options are the command line.
type options struct {
	CommonJS string // where the bundle goes as CommonJS
	Module   string // where it goes as an ES module
	Target   string // e.g. node20.11.0
	Entry    string // the absolute path of the main source
	Report   string // what a report of the imports begins with; empty for none
}

// Main compiles and returns the exit code: 0, 1 for errors in the source, which
// are on stderr as file:line:column: error: text, 2 for a wrong command line.
// It writes either the one file or the other:
//
//	--commonjs=FILE --module=FILE [--target=node20.11.0] [--report=NONCE] ENTRY
func Main(args []string, _ io.Reader, _, stderr io.Writer) int {
	opts, err := parse(args)
	if err != nil {
		fmt.Fprintln(stderr, err)
		return 2
	}
	if err := compile(opts, stderr); err != nil {
		fmt.Fprintln(stderr, err)
		return 1
	}
	return 0
}

func parse(args []string) (options, error) {
	var opts options
	flags := flag.NewFlagSet("esbuild", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.StringVar(&opts.CommonJS, "commonjs", "", "")
	flags.StringVar(&opts.Module, "module", "", "")
	flags.StringVar(&opts.Report, "report", "", "")
	flags.StringVar(&opts.Target, "target", "node18", "")
	if err := flags.Parse(args); err != nil {
		return options{}, err
	}
	switch {
	case flags.NArg() != 1:
		return options{}, fmt.Errorf("one entry is needed, not %d", flags.NArg())
	case opts.CommonJS == "" || opts.Module == "":
		return options{}, errors.New("--commonjs and --module are needed")
	case !strings.HasPrefix(opts.Target, "node"):
		return options{}, fmt.Errorf("the target %q is not a version of Node", opts.Target)
	}
	entry, err := filepath.Abs(flags.Arg(0))
	opts.Entry = entry
	return opts, err
}

// errSource says that there are errors in the source, which are told already.
var errSource = errors.New("the source could not be compiled")

// compile bundles, as an ES module if CommonJS will not do, and writes the file.
func compile(opts options, stderr io.Writer) error {
	seen := &imports{dir: filepath.Dir(opts.Entry)}
	output, format := opts.CommonJS, api.FormatCommonJS
	result := bundle(opts, format, seen)
	if needsModule(result) {
		output, format = opts.Module, api.FormatESModule
		result = bundle(opts, format, seen)
	}
	if opts.Report != "" {
		seen.report(stderr, opts.Report)
	}
	report(stderr, "warning", result.Warnings)
	report(stderr, "error", result.Errors)
	if len(result.Errors) > 0 {
		return errSource
	}
	return os.WriteFile(output, result.OutputFiles[0].Contents, 0o644)
}

func bundle(opts options, format api.Format, seen *imports) api.BuildResult {
	return api.Build(api.BuildOptions{
		EntryPoints:   []string{opts.Entry},
		AbsWorkingDir: filepath.Dir(opts.Entry),
		Outfile:       opts.CommonJS, // not written, but the source map is relative to it
		Bundle:        true,
		Format:        format,
		Platform:      api.PlatformNode,
		Engines:       []api.Engine{{Name: api.EngineNode, Version: strings.TrimPrefix(opts.Target, "node")}},
		Charset:       api.CharsetUTF8,
		// What is written runs, whatever annotations say of its effects.
		TreeShaking:       api.TreeShakingFalse,
		IgnoreAnnotations: true,
		LegalComments:     api.LegalCommentsInline,
		Sourcemap:         api.SourceMapInline,
		SourcesContent:    api.SourcesContentInclude,
		LogLevel:          api.LogLevelSilent,
		Define:            places(opts.Entry),
		Banner:            map[string]string{"js": banner(opts.Entry, format)},
		Plugins:           []api.Plugin{seen.plugin(), placesPlugin(opts.Entry)},
	})
}

// needsModule tells whether the source cannot be CommonJS.
func needsModule(result api.BuildResult) bool {
	for _, e := range result.Errors {
		if strings.HasPrefix(e.Text, "Top-level await is currently not supported") {
			return true
		}
	}
	for _, w := range result.Warnings {
		if w.ID == "empty-import-meta" {
			return true
		}
	}
	return false
}

// banner is the first line of the bundle. It gives process.argv[1] the name of
// the source, and an ES module the require that bundled CommonJS files use.
func banner(entry string, format api.Format) string {
	line := "process.argv[1]=" + quote(entry) + ";"
	if format == api.FormatESModule {
		line = `import{createRequire as __createRequire}from"node:module";const require=__createRequire(` +
			quote(fileURL(entry)) + ");" + line
	}
	return line
}

// report writes messages in the form that compilers and editors share.
func report(w io.Writer, kind string, messages []api.Message) {
	for _, m := range messages {
		reportLine(w, m.Location, kind, m.Text)
		if m.Location != nil && m.Location.LineText != "" {
			fmt.Fprintf(w, "    %s\n", strings.TrimSpace(m.Location.LineText))
		}
		for _, note := range m.Notes {
			reportLine(w, note.Location, "note", note.Text)
		}
	}
}

func reportLine(w io.Writer, at *api.Location, kind, text string) {
	if at == nil {
		fmt.Fprintf(w, "%s: %s\n", kind, text)
		return
	}
	fmt.Fprintf(w, "%s:%d:%d: %s: %s\n", at.File, at.Line, at.Column+1, kind, text)
}

// quote is a string as JavaScript.
func quote(s string) string {
	quoted, _ := json.Marshal(s) // a string cannot fail
	return string(quoted)
}
