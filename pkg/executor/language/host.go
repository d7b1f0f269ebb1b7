package language

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// probeTimeout bounds one question for a version. The slowest that is healthy
// is a JVM on a cold disk, with a second or two.
const probeTimeout = 10 * time.Second

// The origins of a candidate that are not the name of a version manager.
const (
	originPath          = "PATH"
	originConfiguration = "configuration"
)

// candidate is one program that may be a toolchain.
type candidate struct {
	// Program is an absolute path with shims and symbolic links resolved. Only
	// the last link of a program that acts by the name it is called by, such
	// as clang++, is kept.
	Program string
	// Origin is PATH, configuration, the version manager (pyenv, nvm, asdf,
	// mise, rustup) or the directory that it was found in, e.g. /usr/lib/jvm.
	Origin string
}

// candidates lists the programs that may be toolchains of a language, without
// repeats: those that h.Named names (whether or not they exist), then those on
// h.Path that are called one of names, in the order of names and then of
// h.Path, then what matches globs, newest first as far as the path tells. globs
// maps an origin to its patterns, which may start with ~/. Shims of version
// managers are resolved to the real program by reading files; nothing is
// started. It looks no further than its caller does.
func (h Host) candidates(language string, names []string, globs map[string][]string) iter.Seq[candidate] {
	return func(yield func(candidate) bool) {
		seen := map[string]bool{}
		fresh := func(program, origin string) bool {
			if seen[program] {
				return true
			}
			seen[program] = true
			return yield(candidate{program, origin})
		}
		for _, key := range h.namedKeys(language) {
			if !fresh(h.namedProgram(h.Named[key]), originConfiguration) {
				return
			}
		}
		for program, origin := range h.onPath(names) {
			if !fresh(program, origin) {
				return
			}
		}
		for _, c := range h.glob(globs) {
			if !fresh(c.Program, c.Origin) {
				return
			}
		}
	}
}

// onPath finds the programs of the search path and where they come from.
func (h Host) onPath(names []string) iter.Seq2[string, string] {
	return func(yield func(program, origin string) bool) {
		for _, name := range names {
			for _, dir := range h.Path {
				if !filepath.IsAbs(dir) {
					continue // a relative entry means another program in each directory
				}
				if program, origin, ok := h.resolve(filepath.Join(dir, name)); ok && !yield(program, origin) {
					return
				}
			}
		}
	}
}

// enough tells whether a search may end with this version: somebody wants just
// one, and this is it.
func (h Host) enough(version string) bool {
	return h.Want != nil && (*h.Want == "" || versionMatches(version, *h.Want))
}

// namedKeys lists the keys of h.Named that concern a language: the one without
// a version first, then the newest.
func (h Host) namedKeys(language string) []string {
	var keys []string
	for key := range h.Named {
		if name, _, _ := strings.Cut(key, "@"); name == language {
			keys = append(keys, key)
		}
	}
	slices.SortFunc(keys, func(a, b string) int {
		if a == language || b == language {
			return strings.Compare(a, b)
		}
		return compareVersions(b, a)
	})
	return keys
}

// namedProgram resolves a program of h.Named. One that does not exist stays as
// it is, so that the failure names it.
func (h Host) namedProgram(named string) string {
	named = h.expand(named)
	if program, _, ok := h.resolve(named); ok {
		return program
	}
	return named
}

// glob lists the programs that match patterns, newest first.
func (h Host) glob(globs map[string][]string) []candidate {
	var found []candidate
	for origin, patterns := range globs {
		for _, pattern := range patterns {
			matches, _ := filepath.Glob(h.expand(pattern)) // the only error is a pattern of ours
			for _, match := range matches {
				if program, _, ok := h.resolve(match); ok {
					found = append(found, candidate{program, origin})
				}
			}
		}
	}
	slices.SortFunc(found, func(a, b candidate) int {
		if c := compareVersions(versionInPath(b.Program), versionInPath(a.Program)); c != 0 {
			return c
		}
		if c := strings.Compare(a.Program, b.Program); c != 0 {
			return c
		}
		return strings.Compare(a.Origin, b.Origin)
	})
	return found
}

// expand replaces a leading ~/ by the home directory.
func (h Host) expand(path string) string {
	if rest, ok := strings.CutPrefix(path, "~/"); ok && h.Home != "" {
		return filepath.Join(h.Home, rest)
	}
	return path
}

// version runs program with args once, ten seconds at most, and returns the
// first group of re (or all of it, if it has none) in what the program wrote to
// stdout and stderr. The answer is remembered in h.Cache until size or
// modification time of the program change. Failures are not remembered: what
// mends them, such as a missing library, need not touch the program.
func (h Host) version(ctx context.Context, program string, re *regexp.Regexp, args ...string) (string, error) {
	info, err := os.Stat(program)
	if err != nil {
		h.note(err)
		return "", fmt.Errorf("%s cannot be used: %w", program, err)
	}
	key := fmt.Sprintf("version %q %d %d %q %q", program, info.Size(), info.ModTime().UnixNano(), args, re)
	return h.remember(key, true, func() (string, error) { return h.askVersion(ctx, program, re, args) })
}

// note tells of an error that says nothing about a toolchain.
func (h Host) note(err error) {
	if h.Failed == nil {
		return
	}
	for _, errno := range []error{syscall.EAGAIN, syscall.EIO, syscall.EMFILE, syscall.ENFILE, syscall.ENOMEM} {
		if errors.Is(err, errno) {
			h.Failed(err)
		}
	}
}

// remember answers from the cache, where there is one and the answer may be kept.
func (h Host) remember(key string, may bool, ask func() (string, error)) (string, error) {
	if h.Cache == nil || !may {
		return ask()
	}
	if answer, ok := h.Cache.Get(key); ok {
		return answer, nil
	}
	answer, err := ask()
	if err == nil {
		h.Cache.Put(key, answer)
	}
	return answer, err
}

// askVersion starts the program. It sees nothing of our environment, so that
// neither PYTHONHOME nor NODE_OPTIONS nor the current directory (which version
// managers read) changes the answer.
func (h Host) askVersion(ctx context.Context, program string, re *regexp.Regexp, args []string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir = "/"
	cmd.Env = []string{"PATH=" + strings.Join(h.Path, string(os.PathListSeparator)), "HOME=" + h.Home, "LC_ALL=C.UTF-8"}
	cmd.WaitDelay = time.Second // a grandchild may hold the pipe open
	output, err := cmd.CombinedOutput()
	match := re.FindSubmatch(output)
	if match != nil {
		return string(match[len(match)-1]), nil
	}
	h.note(err)
	asked := strings.Join(append([]string{program}, args...), " ")
	switch {
	case ctx.Err() != nil:
		return "", fmt.Errorf("%s did not answer: %w", asked, ctx.Err())
	case err != nil:
		return "", fmt.Errorf("%s failed: %w%s", asked, err, quoteFirstLine(output))
	default:
		return "", fmt.Errorf("%s does not tell its version%s", asked, quoteFirstLine(output))
	}
}

// quoteFirstLine is ": " and the first line that is not blank, or nothing.
func quoteFirstLine(output []byte) string {
	line := shorten(firstLine(string(output)))
	if line == "" {
		return ""
	}
	return ": " + line
}

// mountsFor lists the host directories that a program below prefix needs at the
// same place in the container: none when the system's own directories hold it,
// the whole store for package managers whose prefixes link to each other, and
// the prefix itself otherwise. Of a prefix that is more than an installation,
// such as a home directory, only the programs and libraries are mounted.
func mountsFor(prefix string) []sandbox.Mount {
	prefix = filepath.Clean(prefix)
	if isSystemDir(prefix) {
		return nil
	}
	if store := packageStore(prefix); store != "" {
		return []sandbox.Mount{{Source: store}}
	}
	if !isShared(prefix) {
		return []sandbox.Mount{{Source: prefix}}
	}
	var mounts []sandbox.Mount
	for _, dir := range []string{"bin", "lib", "lib64"} {
		mounts = append(mounts, sandbox.Mount{Source: filepath.Join(prefix, dir), Optional: true})
	}
	return mounts
}

// isSystemDir tells whether every container has a directory anyway.
func isSystemDir(dir string) bool {
	for _, system := range []string{"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64"} {
		if dir == system || strings.HasPrefix(dir, system+"/") {
			return true
		}
	}
	return dir == "/"
}

// packageStore is the directory that holds a prefix and all that it links to,
// for Nix (/nix/store/…) and Homebrew (…/Cellar/…), else empty.
func packageStore(prefix string) string {
	if strings.HasPrefix(prefix, "/nix/store/") {
		return "/nix/store"
	}
	if store, _, ok := strings.Cut(prefix, "/Cellar/"); ok {
		return store
	}
	return ""
}

// isShared tells whether a directory holds more than one installation, and so
// maybe somebody's secrets: a top-level directory, a home or its .local.
func isShared(dir string) bool {
	if filepath.Dir(dir) == "/" || filepath.Dir(dir) == "/home" || filepath.Base(dir) == ".local" {
		return true
	}
	for _, mark := range []string{".ssh", ".profile", ".bashrc", ".bash_history", ".cache", ".gnupg"} {
		if _, err := os.Lstat(filepath.Join(dir, mark)); err == nil {
			return true
		}
	}
	return false
}
