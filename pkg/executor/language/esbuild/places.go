package esbuild

import (
	"net/url"
	"os"
	"path/filepath"
	"regexp"

	"github.com/evanw/esbuild/pkg/api"
)

// places says what a source file that asks where it is should hear. A local
// variable of the same name is left alone.
func places(file string) map[string]string {
	return map[string]string{
		"__filename":           quote(file),
		"__dirname":            quote(filepath.Dir(file)),
		"import.meta.url":      quote(fileURL(file)),
		"import.meta.filename": quote(file),
		"import.meta.dirname":  quote(filepath.Dir(file)),
	}
}

func fileURL(file string) string {
	return (&url.URL{Scheme: "file", Path: file}).String()
}

// placesPlugin gives the files beside the entry places of their own: a bundle
// knows only one set of definitions, so these files are compiled by themselves
// first. Most do not ask and are left alone.
func placesPlugin(entry string) api.Plugin {
	asks := regexp.MustCompile(`\b__filename\b|\b__dirname\b|\bimport\.meta\b`)
	return api.Plugin{Name: "places", Setup: func(build api.PluginBuild) {
		options := api.OnLoadOptions{Filter: `\.[cm]?[jt]sx?$`, Namespace: "file"}
		build.OnLoad(options, func(args api.OnLoadArgs) (api.OnLoadResult, error) {
			code, err := os.ReadFile(args.Path)
			if err != nil || args.Path == entry || !asks.Match(code) {
				return api.OnLoadResult{}, nil // the bundler reads it itself
			}
			return placeFile(args.Path, string(code)), nil
		})
	}}
}

// placeFile compiles one file with its own places.
func placeFile(file, code string) api.OnLoadResult {
	result := api.Transform(code, api.TransformOptions{
		Loader:      loader(file),
		Sourcefile:  filepath.Base(file),
		Sourcemap:   api.SourceMapInline,
		Charset:     api.CharsetUTF8,
		Define:      places(file),
		TsconfigRaw: tsconfig(file),
		LogLevel:    api.LogLevelSilent,
	})
	for i := range result.Errors {
		result.Errors[i].Location.File = file
	}
	if len(result.Errors) > 0 {
		return api.OnLoadResult{Errors: result.Errors}
	}
	contents := string(result.Code)
	return api.OnLoadResult{Contents: &contents, Loader: api.LoaderJS, ResolveDir: filepath.Dir(file)}
}

func loader(file string) api.Loader {
	switch filepath.Ext(file) {
	case ".tsx":
		return api.LoaderTSX
	case ".ts", ".mts", ".cts":
		return api.LoaderTS
	case ".jsx":
		return api.LoaderJSX
	default:
		return api.LoaderJS
	}
}

// tsconfig is the nearest tsconfig.json above a file, or empty.
func tsconfig(file string) string {
	for dir := filepath.Dir(file); ; dir = filepath.Dir(dir) {
		if raw, err := os.ReadFile(filepath.Join(dir, "tsconfig.json")); err == nil {
			return string(raw)
		}
		if dir == filepath.Dir(dir) {
			return ""
		}
	}
}
