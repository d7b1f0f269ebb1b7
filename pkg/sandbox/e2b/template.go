package e2b

import (
	"context"
	"errors"
	"io/fs"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// Image implements [sandbox.Runtime]: the template, and as its digest the build of
// it that new sandboxes are made from.
func (r *Runtime) Image(ctx context.Context, spec sandbox.Spec) (sandbox.Image, error) {
	name := r.template(spec)
	digest, err := r.build(ctx, name)
	return sandbox.Image{Name: name, Digest: digest, Elsewhere: true}, err
}

// buildList is what the service has said of the templates of the key.
type buildList struct {
	known map[string]string // the build of a template, by each of its names
	// there tells whether the service has such a list, and until when it is believed.
	there bool
	until time.Time
}

// How long a list of templates is believed, and how long somebody else's template is
// taken for the same: it is in no list, and changes rarely.
const (
	listTime   = 10 * time.Second
	publicTime = time.Hour
)

// build tells which content a template has now. One of another team has no build that
// we may see: its identity is the hour, so that what is known of it is forgotten. A
// service that lists no templates tells nothing.
func (r *Runtime) build(ctx context.Context, name string) (string, error) {
	r.mu.Lock()
	list := r.builds
	r.mu.Unlock()
	if time.Now().After(list.until) {
		var err error
		if list, err = r.listBuilds(ctx); err != nil {
			return "", err
		}
		r.mu.Lock()
		r.builds = list
		r.mu.Unlock()
	}
	build, own := list.known[name]
	switch {
	case own, !list.there:
		return build, nil
	case strings.Contains(name, ":"): // a tag, which may be moved to another build
		return "", nil
	}
	host := r.client.options.APIURL
	if u, err := url.Parse(host); err == nil {
		host = u.Host
	}
	return host + "/" + time.Now().UTC().Truncate(publicTime).Format("2006-01-02T15Z"), nil
}

// listBuilds asks for the templates of the key.
func (r *Runtime) listBuilds(ctx context.Context) (buildList, error) {
	var templates []struct {
		TemplateID  string   `json:"templateID"`
		BuildID     string   `json:"buildID"`
		BuildStatus string   `json:"buildStatus"`
		Aliases     []string `json:"aliases"`
		Names       []string `json:"names"`
	}
	list := buildList{known: map[string]string{}, until: time.Now().Add(listTime)}
	_, err := r.client.control(ctx, "ask for the templates", http.MethodGet, "/templates", "", nil, &templates)
	var key *KeyError
	if errors.As(err, new(*answerError)) || errors.As(err, &key) && key.Status == http.StatusForbidden { // no such list, or not for this key
		return list, nil
	}
	if err != nil {
		return buildList{}, err
	}
	list.there = true
	for _, t := range templates {
		build := t.BuildID
		if !namePattern().MatchString(build) || t.BuildStatus != "" && t.BuildStatus != "ready" {
			build = "" // sandboxes are made from the one before
		}
		for _, name := range slices.Concat([]string{t.TemplateID}, t.Aliases, t.Names) {
			list.known[name] = build
		}
	}
	return list, nil
}

// templateFault is what the service says of a template that it has not, or not for
// this key; nil where it refuses a sandbox for another reason.
func templateFault(template string, err error) error {
	const mend = "Name a template of this key's team, or a public one, with --image or SANDBOX_E2B_TEMPLATE"
	var said string
	var key *KeyError
	var refused *answerError
	switch {
	case errors.As(err, &key):
		said = key.Detail
	case errors.As(err, &refused):
		said = refused.message
	}
	missing := errors.Is(err, fs.ErrNotExist)
	if !missing && !strings.Contains(strings.ToLower(said), "template") {
		return nil
	}
	return &sandbox.ImageError{Ref: template, Err: errors.New(said), Mend: mend}
}

// ImageEnv is the environment that the container's template gives its programs: the
// service does not tell it, but envd gives it to each of them.
func (r *Runtime) ImageEnv(ctx context.Context, of sandbox.Container) ([]string, error) {
	c, ok := of.(*container)
	if !ok || c.rt != r {
		return nil, errors.New("the container is not of this runtime")
	}
	var out strings.Builder
	p := processConfig{Cmd: "/usr/bin/env", Args: []string{"-0"}, Envs: map[string]string{}, Cwd: "/"}
	end, err := c.envd.follow(ctx, "ask for the environment", sandbox.UserName, p, func(stdout, _ []byte) error {
		out.Write(stdout[:min(len(stdout), maxSaid-out.Len())])
		return nil
	})
	if err != nil {
		return nil, err
	}
	if code, _, err := end.outcome(); err != nil || code != 0 {
		return nil, nil // a template without env has none to speak of
	}
	var env []string
	for kv := range strings.SplitSeq(out.String(), "\x00") {
		if name, _, ok := strings.Cut(kv, "="); ok && !ownVariable(name) {
			env = append(env, kv)
		}
	}
	slices.Sort(env)
	return env, nil
}

// ownVariable tells the variables of envd's user and of the sandbox itself, which are
// nothing of the template.
func ownVariable(name string) bool {
	switch name {
	case "", "HOME", "USER", "LOGNAME", "MAIL", "SHELL", "PWD", "OLDPWD", "SHLVL", "TERM", "_":
		return true
	}
	_, own := strings.CutPrefix(name, "E2B_")
	return own
}
