package language

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
)

// findInside is [Host.find] for an image: the first of s.Names that is on its PATH
// and will do. Nothing of the image is mounted, and none of its packages is hidden:
// whoever chose the image wants what it holds.
func (h Host) findInside(ctx context.Context, s search) ([]Toolchain, []Missing) {
	var missing []Missing
	for _, name := range s.Names {
		tc, err := h.insideToolchain(ctx, s, name)
		switch {
		case err == nil:
			return []Toolchain{tc}, missing
		case ctx.Err() != nil:
			return nil, nil
		case !errors.Is(err, fs.ErrNotExist):
			missing = append(missing, Missing{Language: s.Language, Reason: err.Error(), Inside: true})
		}
	}
	if len(missing) == 0 {
		missing = []Missing{{Inside: true, Language: s.Language, Reason: fmt.Sprintf("the image %s has no program %s", h.Image.Name, strings.Join(s.Names, " or "))}}
	}
	return nil, missing
}

func (h Host) insideToolchain(ctx context.Context, s search, name string) (Toolchain, error) {
	version, err := h.askInside(ctx, s, name)
	if err != nil {
		return Toolchain{}, err
	}
	if err := checkVersion(version); err != nil {
		return Toolchain{}, fmt.Errorf("%s of the image %s does not say what it was asked: %w", name, h.Image.Name, err)
	}
	if tooOld(version, s.Oldest) {
		return Toolchain{}, fmt.Errorf("the image %s has %s %s; the oldest that works is %s", h.Image.Name, s.Title, version, s.Oldest)
	}
	tc := h.Image.toolchain(s.Language)
	tc.Version, tc.Program = version, name
	if s.Inside != nil {
		err = s.Inside(ctx, h, &tc)
	}
	return tc, err
}

func (i *Image) toolchain(language string) Toolchain {
	return Toolchain{Language: language, Origin: i.Name, Image: cmp.Or(i.Digest, i.Name), Env: i.Env}
}

// askInside starts a program of the image with s.Args, and returns what s.Pattern
// finds in the answer. That there is no such program is remembered, too: the content
// of a digest does not change.
func (h Host) askInside(ctx context.Context, s search, name string) (string, error) {
	args := append([]string{name}, s.Args...)
	key := fmt.Sprintf("image %s %q %q", h.Image.Digest, args, s.Pattern)
	const none = "\n"
	answer, err := h.remember(key, h.Image.Digest != "", func() (string, error) {
		output, err := h.Image.Run(ctx, args...)
		if errors.Is(err, fs.ErrNotExist) {
			return none, nil
		}
		if err != nil {
			return "", fmt.Errorf("%s of the image %s: %w", name, h.Image.Name, err)
		}
		match := s.Pattern.FindSubmatch(output)
		if match == nil || len(match[len(match)-1]) > maxAnswer {
			return "", fmt.Errorf("%s of the image %s does not say what it was asked%s", name, h.Image.Name, quoteFirstLine(output))
		}
		return string(match[len(match)-1]), nil
	})
	if answer == none {
		return "", fs.ErrNotExist
	}
	return answer, err
}

// maxAnswer is more than any version or path has: the image is not to be trusted.
const maxAnswer = 256

// hasInside tells whether the image has a program that answers --version.
func (h Host) hasInside(ctx context.Context, name string) bool {
	_, err := h.askInside(ctx, search{Args: []string{"--version"}, Pattern: anything()}, name)
	return err == nil
}

// sets tells whether its environment, such as that of its image, has one of these variables.
func (tc Toolchain) sets(names ...string) bool {
	return slices.ContainsFunc(tc.Env, func(kv string) bool {
		name, value, _ := strings.Cut(kv, "=")
		return value != "" && slices.Contains(names, name)
	})
}

// inImage tells whether a toolchain is an image's, of which nothing is known but
// what its programs say.
func (tc Toolchain) inImage() bool { return tc.Image != "" }
