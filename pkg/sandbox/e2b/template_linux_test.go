package e2b_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox/e2b"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox/e2b/e2btest"
)

// The digest of a template is its build, as far as the service tells it, and never
// one that another content may have.
func TestImage(t *testing.T) {
	own := e2btest.Template{TemplateID: "tid1", BuildID: "b1", Aliases: []string{"own"}, Names: []string{"team/own"}}
	building := own
	building.BuildStatus = "building"
	ready := own
	ready.BuildStatus = "ready"
	hour := time.Now().UTC().Format("2006-01-02T15Z")
	for _, tc := range []struct {
		what, name string
		templates  []e2btest.Template
		fault      e2btest.Fault
		digest     string // its end
		as         any    // the error
	}{
		{what: "by its alias", name: "own", templates: []e2btest.Template{own}, digest: "b1"},
		{what: "by its id", name: "tid1", templates: []e2btest.Template{ready}, digest: "b1"},
		{what: "by its team", name: "team/own", templates: []e2btest.Template{ready}, digest: "b1"},
		{what: "while it is built", name: "own", templates: []e2btest.Template{building}},
		{what: "by a tag", name: "own:v1", templates: []e2btest.Template{own}},
		{what: "somebody else's", name: "base", templates: []e2btest.Template{}, digest: "/" + hour},
		{what: "without a list", name: "own"},
		{what: "of a service without one", name: "own", fault: e2btest.Status(501, "")},
		{what: "with a key that may not list", name: "own", fault: e2btest.Status(403, "")},
		{what: "that fails", name: "own", fault: e2btest.Status(500, ""), as: new(*e2b.TransientError)},
		{what: "too often", name: "own", fault: e2btest.Status(429, ""), as: new(*e2b.QuotaError)},
		{what: "without a key", name: "own", fault: e2btest.Status(401, ""), as: new(*e2b.KeyError)},
	} {
		t.Run(tc.what, func(t *testing.T) {
			s := e2btest.Start(t)
			s.Templates = tc.templates
			if tc.fault != nil {
				s.Fail(e2btest.On("GET", "/templates", 0, tc.fault))
			}
			rt := open(t, s, e2b.Options{})
			defer rt.Close()
			img, err := rt.Image(t.Context(), sandbox.Spec{Image: tc.name})
			if tc.as != nil {
				if !errors.As(err, tc.as) {
					t.Errorf("error %v, want %T", err, tc.as)
				}
				return
			}
			if err != nil || img.Name != tc.name || !img.Elsewhere || !strings.HasSuffix(img.Digest, tc.digest) || tc.digest == "" && img.Digest != "" {
				t.Errorf("the image is %+v, %v", img, err)
			}
			if _, err := rt.Image(t.Context(), sandbox.Spec{Image: tc.name}); err != nil {
				t.Error(err)
			}
			if asked := slices.DeleteFunc(s.Requests(), func(r string) bool { return r != "GET /templates" }); len(asked) != 1 {
				t.Errorf("the list was asked for %d times", len(asked))
			}
		})
	}
}

// A template that is not there is the caller's fault, whichever way a service says so.
func TestMissingTemplate(t *testing.T) {
	for body, status := range map[string]int{
		`{"code":400,"message":"Template 'x' not found"}`:                   400,
		`{"code":403,"message":"Team has no access to the template x"}`:     403,
		`{"code":404,"message":"nothing of that name"}`:                     404,
		`{"code":404,"message":"template of e2b_0123456789abcdef is gone"}`: 404,
	} {
		s := e2btest.Start(t)
		s.Fail(e2btest.On("POST", "/sandboxes", 0, e2btest.Status(status, body)))
		rt := open(t, s, e2b.Options{Template: "x"})
		_, err := rt.Create(t.Context(), small)
		if !errors.As(err, new(*sandbox.ImageError)) || !strings.Contains(err.Error(), "the image x cannot be used") || strings.Contains(err.Error(), e2btest.Key) {
			t.Errorf("%s: %v", body, err)
		}
		if err := rt.Close(); err != nil {
			t.Error(err)
		}
	}
}

// What the template gives its programs is known, without what is envd's own.
func TestImageEnv(t *testing.T) {
	_, rt, c := start(t, small, func(s *e2btest.Server) {
		s.Env = map[string]string{"PATH": "/opt/own/bin:/usr/bin:/bin", "OWN": "two\nlines", "E2B_SANDBOX_ID": "i1"}
	})
	env, err := rt.ImageEnv(t.Context(), c)
	if err != nil || !slices.Equal(env, []string{"OWN=two\nlines", "PATH=/opt/own/bin:/usr/bin:/bin"}) {
		t.Errorf("the environment is %q, %v", env, err)
	}
	if _, err := open(t, e2btest.Start(t), e2b.Options{}).ImageEnv(t.Context(), c); err == nil {
		t.Error("another runtime tells it, too")
	}
}
