package executor

import (
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sandbox-run/sandbox-run/pkg/api"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// What a program may reach, its compiler may not; what each did is in the result.
func TestNetworkOfPhases(t *testing.T) {
	rt := &fakeRuntime{program: func(p sandbox.Process, _ *fakeRunning) sandbox.Exit {
		use := sandbox.NetworkUse{Connections: 1, BytesSent: 2, BytesReceived: 3, Queries: []string{p.Args[0] + " asks"}, Failures: []string{p.Args[0] + " fails"}}
		return sandbox.Exit{Network: use, Violations: []string{p.Args[0] + " is denied"}}
	}}
	e := newFakeExecutor(rt)
	e.cfg.Host = fakeGCC(t)
	asked := sandbox.NetworkPolicy{Allow: []string{"example.org:443"}, AllowDNS: true, HostProxy: true}
	res, err := e.Run(t.Context(), Request{Language: "c", Code: []byte("int main;"), Network: asked}, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := sandbox.NetworkPolicy{Mode: sandbox.NetworkAllowlist, Allow: asked.Allow, AllowDNS: true} // the proxy is not a caller's
	c := rt.containers[0]
	if diff := cmp.Diff(want, c.spec.Network); diff != "" {
		t.Errorf("the container: %s", diff)
	}
	if diff := cmp.Diff(&sandbox.NetworkPolicy{}, c.started[0].Network); diff != "" {
		t.Errorf("the compiler: %s", diff)
	}
	if diff := cmp.Diff(&want, c.started[1].Network); diff != "" {
		t.Errorf("the program: %s", diff)
	}
	compiler, program := c.started[0].Args[0], c.started[1].Args[0]
	meta := api.NetworkMeta{Mode: "allowlist", Allow: asked.Allow, AllowDNS: true, Connections: 2, BytesSent: 4, BytesReceived: 6,
		Queries: []string{compiler + " asks", program + " asks"}, Failures: []string{compiler + " fails", program + " fails"}}
	if diff := cmp.Diff(meta, res.Meta.Network); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{compiler + " is denied", program + " is denied"}, res.Meta.Violations); diff != "" {
		t.Error(diff)
	}
}

// A network that cannot be meant is the caller's error, whoever finds it out.
func TestNetworkErrors(t *testing.T) {
	for _, tc := range []struct {
		network sandbox.NetworkPolicy
		create  error
		kind    InputKind
		field   string
		detail  string
	}{
		{sandbox.NetworkPolicy{Mode: "host"}, nil, InputInvalid, "/network/mode", "none, localhost, allowlist or full"},
		{sandbox.NetworkPolicy{Mode: "none", Allow: []string{"x"}}, nil, InputInvalid, "/network/allow", "network none"},
		{sandbox.NetworkPolicy{Mode: "localhost", AllowDNS: true}, nil, InputInvalid, "/network/allow_dns", "network localhost"},
		{sandbox.NetworkPolicy{Allow: []string{"*"}}, &sandbox.NetworkError{Field: "allow", Detail: "entry"}, InputInvalid, "/network/allow", "entry"},
		{sandbox.NetworkPolicy{Mode: "full"}, &sandbox.UnsupportedError{What: "network full", Reason: "no namespaces"}, InputUnsupported, "", "network full cannot be enforced here"},
	} {
		rt := &fakeRuntime{createErr: tc.create}
		req := echo()
		req.Network = tc.network
		_, err := newFakeExecutor(rt).Run(t.Context(), req, nil)
		var input *InputError
		if !errors.As(err, &input) || input.Kind != tc.kind || input.Field != tc.field || !strings.Contains(input.Detail, tc.detail) {
			t.Errorf("%+v: %#v", tc.network, err)
		}
		if tc.create == nil && len(rt.containers) > 0 {
			t.Errorf("%+v: a container was made", tc.network)
		}
	}
}

// A program that has failed for want of a network is told apart from one that has failed.
func TestNetworkHint(t *testing.T) {
	for said, want := range map[string]bool{
		"OSError: [Errno 97] Address family not supported by protocol":                       true,
		"socket.gaierror: [Errno -3] Temporary failure in name resolution":                   true,
		"Error: getaddrinfo EAI_AGAIN example.org":                                           true,
		"java.net.UnknownHostException: example.org":                                         true,
		"dial tcp: lookup example.org on [::1]:53: socket: operation not supported":          true,
		"curl: (6) Could not resolve host: example.org":                                      true,
		"failed to lookup address information: Temporary failure in name resolution (os -3)": true,
		"ZeroDivisionError: division by zero":                                                false,
	} {
		for _, c := range []struct {
			code    int
			network sandbox.NetworkPolicy
			hints   bool
		}{
			{1, sandbox.NetworkPolicy{}, want}, {0, sandbox.NetworkPolicy{}, false}, {1, sandbox.NetworkPolicy{Mode: sandbox.NetworkFull}, false},
		} {
			rt := &fakeRuntime{program: func(p sandbox.Process, running *fakeRunning) sandbox.Exit {
				_, _ = io.WriteString(p.Stderr, said+"\n")
				return sandbox.Exit{Code: c.code}
			}}
			req := echo()
			req.Network = c.network
			res, err := newFakeExecutor(rt).Run(t.Context(), req, nil)
			if err != nil {
				t.Fatal(err)
			}
			if hints := slices.ContainsFunc(res.Meta.Warnings, func(w string) bool { return strings.Contains(w, "--allow") }); hints != c.hints {
				t.Errorf("%q with code %d and network %q: %q", said, c.code, c.network.Mode, res.Meta.Warnings)
			}
		}
	}
}
