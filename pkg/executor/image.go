package executor

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/sandbox-run/sandbox-run/pkg/executor/language"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// root is what a request's containers have for a root, as the runtime is asked for
// it, and, once it was, as it was told.
func (r *run) root() sandbox.Spec {
	return sandbox.Spec{
		Tenant: r.req.Tenant, Level: r.req.Isolation, Image: r.req.Image, Digest: r.img.Digest,
		Language: r.lang.Info().Name, Version: r.version,
	}
}

// checkImage refuses an image that this operator lets nobody name.
func (e *Executor) checkImage(name string) error {
	if name == "" || e.cfg.Images == nil || sandbox.MatchImage(e.cfg.Images, name) {
		return nil
	}
	return &InputError{Kind: InputUnsupported, Field: "/image", Detail: fmt.Sprintf("the image %.100q may not be asked for here: the operator names those that may (SANDBOX_IMAGES)", name)}
}

// image asks the runtime for the image of the run's containers.
func (r *run) image(ctx context.Context) (sandbox.Image, error) {
	img, err := r.e.runtime.Image(ctx, r.root())
	var fault *sandbox.ImageError
	var unsupported *sandbox.UnsupportedError
	switch {
	case r.req.Image == "" && errors.As(err, &fault):
		return img, &InputError{Kind: InputNoToolchain, Field: "/language", Detail: err.Error()}
	case errors.As(err, &fault):
		return img, &InputError{Field: "/image", Detail: err.Error()}
	case errors.As(err, &unsupported):
		return img, &InputError{Kind: InputUnsupported, Field: "/image", Detail: err.Error()}
	}
	return img, err
}

// find looks for the toolchains of a language where a container of spec has them:
// on this host, or in its image.
func (e *Executor) find(ctx context.Context, lang language.Language, spec sandbox.Spec, img sandbox.Image, host language.Host) ([]language.Toolchain, []language.Missing, error) {
	if img.IsZero() {
		found, missing := lang.Find(ctx, host)
		return found, missing, nil
	}
	key := lookKey(spec, img)
	if failed, ok := e.looks.recall(key); ok {
		return nil, failed.missing, failed.err
	}
	in := &inside{e: e, spec: spec, img: img, place: &place{of: e.looks, tenant: spec.Tenant}, key: key}
	defer in.place.free()
	found, missing := in.find(ctx, lang, host)
	err := errors.Join(in.err, in.close(ctx))
	switch {
	case in.known != nil:
		return nil, in.known.missing, in.known.err
	case len(found) == 0 && ctx.Err() == nil:
		e.looks.remember(key, missing, err)
	}
	return found, missing, err
}

// find looks for the toolchains of a language in the image; in.err says what kept it
// from that.
func (in *inside) find(ctx context.Context, lang language.Language, host language.Host) ([]language.Toolchain, []language.Missing) {
	if in.env == nil {
		in.env = imageEnv(in.img.Env)
		if asked, ok := in.e.runtime.(surroundings); ok {
			in.env = imageEnv(in.ownEnv(ctx, asked, host.Cache, in.img.Digest))
		}
	}
	if in.err != nil {
		return nil, nil
	}
	host.Image = &language.Image{Name: in.img.Name, Digest: in.img.Digest, Env: in.env, Run: in.run}
	return lang.Find(ctx, host)
}

// worldVariables are every program's, whatever an image says, and so is the locale.
var worldVariables = []string{"HOME", "USER", "TMPDIR", "TZ", "LANG", "LANGUAGE"}

// imageEnv is what an image's programs need.
func imageEnv(env []string) []string {
	return slices.DeleteFunc(slices.Clone(env), func(kv string) bool {
		name, _, given := strings.Cut(kv, "=")
		_, category := strings.CutPrefix(name, "LC_")
		return given && (category || slices.Contains(worldVariables, name))
	})
}

// inside starts programs of an image, in one container that is made when the first
// one is asked for.
type inside struct {
	e    *Executor
	spec sandbox.Spec
	img  sandbox.Image
	env  []string
	// place is what container takes; key names what is looked for, if that is one thing,
	// and known is what somebody else has found out meanwhile.
	place *place
	key   string
	known *failedLook

	container sandbox.Container
	err       error // ours, not the program's
}

// surroundings is implemented by runtimes that learn what an image's programs need
// from a container of it alone.
type surroundings interface {
	ImageEnv(ctx context.Context, c sandbox.Container) ([]string, error)
}

// ownEnv is that environment, which is asked for once if the image has a digest.
func (in *inside) ownEnv(ctx context.Context, runtime surroundings, cache language.Cache, digest string) (env []string) {
	key := "image env " + digest
	if digest == "" {
		cache = nil
	}
	if cache != nil {
		if answer, ok := cache.Get(key); ok && json.Unmarshal([]byte(answer), &env) == nil {
			return env
		}
	}
	if in.open(ctx) != nil {
		return nil
	}
	if env, in.err = runtime.ImageEnv(ctx, in.container); in.err != nil || cache == nil {
		return env
	}
	if answer, err := json.Marshal(env); err == nil {
		cache.Put(key, string(answer))
	}
	return env
}

// The bounds of a program that is asked for its version. To make a container and to start
// a program in it takes a loaded engine far longer than any program takes to answer.
const (
	insideWait   = 2 * time.Minute
	insideMemory = 512 << 20
	insideDisk   = 16 << 20
	insideTime   = 10 * time.Second
	insideOutput = 64 << 10
)

// run implements [language.Image.Run].
func (in *inside) run(ctx context.Context, args ...string) ([]byte, error) {
	if err := in.open(ctx); err != nil {
		return nil, err
	}
	out, other := &head{left: insideOutput}, &head{left: insideOutput}
	r := run{toolchain: language.Toolchain{Env: in.env}}
	p := sandbox.Process{
		Args: args, Env: r.environment(language.Step{}, nil), Stdout: out, Stderr: other,
		Limits: sandbox.Limits{WallTime: insideTime, MemoryBytes: insideMemory, CPUs: 1, Processes: 128, OpenFiles: 256},
	}
	limited, cancel := context.WithTimeout(ctx, insideWait)
	defer cancel()
	outcome, err := in.e.manager.Run(limited, in.container.ID(), p, nil)
	err = in.late(ctx, limited, err, "no program could be started in a container of it")
	var start *sandbox.StartError
	switch {
	case err == nil && outcome.Cause == sandbox.CauseWallTime:
		return nil, fmt.Errorf("it did not answer within %v", insideTime)
	case errors.As(err, &start) && errors.Is(err, fs.ErrNotExist):
		return nil, fs.ErrNotExist
	case err != nil && !errors.As(err, &start):
		in.err = cmp.Or(in.err, err)
	}
	return append(out.Bytes(), other.Bytes()...), err
}

func (in *inside) open(ctx context.Context) error {
	if in.container != nil || in.err != nil {
		return in.err
	}
	in.spec.Disk, in.spec.Digest = diskLimit(insideDisk), in.img.Digest
	limited, cancel := context.WithTimeout(ctx, insideWait)
	defer cancel()
	err := in.place.take(limited)
	if failed, known := in.e.looks.recall(in.key); err == nil && known {
		in.known, in.err = &failed, errKnown
		return in.err
	}
	if err == nil {
		in.container, err = in.e.manager.Create(limited, in.spec)
	}
	in.err = in.late(ctx, limited, err, "no container of it could be made")
	return in.err
}

// late says what was wanted where an error is that the limited one of two contexts ran out.
func (in *inside) late(ctx, limited context.Context, err error, what string) error {
	if err == nil || limited.Err() == nil || ctx.Err() != nil {
		return err
	}
	return &lateError{fmt.Sprintf("the image %s was to be asked for %s, and %s within %v: this machine has too much to do, or what makes containers hangs. Try again later; sandbox-run doctor --runtime %s tells whether it works",
		in.img.Name, in.spec.Language, what, insideWait, in.e.runtime.Name())}
}

// lateError is [context.DeadlineExceeded] in words.
type lateError struct{ text string }

func (e *lateError) Error() string        { return e.text }
func (e *lateError) Is(target error) bool { return target == context.DeadlineExceeded }

func (in *inside) close(ctx context.Context) error {
	if in.container == nil {
		return nil
	}
	return in.e.manager.Delete(context.WithoutCancel(ctx), in.container.ID())
}

// head keeps the beginning of what is written.
type head struct {
	bytes.Buffer
	left int
}

func (h *head) Write(b []byte) (int, error) {
	kept := b[:min(len(b), h.left)]
	h.left -= len(kept)
	_, _ = h.Buffer.Write(kept) // a buffer takes everything
	return len(b), nil
}
