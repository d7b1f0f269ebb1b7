package e2b

import (
	"errors"
	"slices"
	"testing"

	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

func TestFirewall(t *testing.T) {
	for _, tc := range []struct {
		policy   sandbox.NetworkPolicy
		internet bool
		allow    []string
		error    string // unsupported or meant
	}{
		{policy: sandbox.NetworkPolicy{}},
		{policy: sandbox.NetworkPolicy{Mode: sandbox.NetworkLocalhost}},
		{policy: sandbox.NetworkPolicy{Mode: sandbox.NetworkFull}, internet: true},
		{policy: sandbox.NetworkPolicy{Mode: sandbox.NetworkFull, Allow: []string{"example.org"}}, internet: true},
		{policy: sandbox.NetworkPolicy{Allow: []string{"example.org", "*.example.org", "192.0.2.7", "192.0.2.0/24"}}, allow: []string{"example.org", "*.example.org", "192.0.2.7", "192.0.2.0/24"}},
		{policy: sandbox.NetworkPolicy{Allow: []string{"example.org:443"}}, error: "unsupported"},
		{policy: sandbox.NetworkPolicy{Allow: []string{"localhost:80"}}, error: "unsupported"},
		{policy: sandbox.NetworkPolicy{Allow: []string{"10.0.0.1"}}, error: "unsupported"},
		{policy: sandbox.NetworkPolicy{Mode: sandbox.NetworkFull, Allow: []string{"127.0.0.1"}}, error: "unsupported"},
		{policy: sandbox.NetworkPolicy{Allow: []string{"169.254.169.254"}}, error: "unsupported"},
		{policy: sandbox.NetworkPolicy{Allow: []string{"2001:db8::1"}}, error: "unsupported"},
		{policy: sandbox.NetworkPolicy{Allow: []string{"a.example.org"}, AllowDNS: true}, error: "unsupported"},
		{policy: sandbox.NetworkPolicy{Allow: []string{"http://example.org"}}, error: "meant"},
		{policy: sandbox.NetworkPolicy{Allow: []string{"*"}}, error: "meant"},
		{policy: sandbox.NetworkPolicy{Allow: []string{""}}, error: "meant"},
	} {
		got, err := firewall(tc.policy.Normal())
		if unsupported := errors.As(err, new(*sandbox.UnsupportedError)); unsupported != (tc.error == "unsupported") {
			t.Errorf("%+v: %v", tc.policy, err)
		}
		if meant := errors.As(err, new(*sandbox.NetworkError)); meant != (tc.error == "meant") {
			t.Errorf("%+v: %v", tc.policy, err)
		}
		if err == nil && (got.internet != tc.internet || !slices.Equal(got.allow, tc.allow)) {
			t.Errorf("%+v: %+v", tc.policy, got)
		}
	}
}

// A process has at most what its container has.
func TestNarrowed(t *testing.T) {
	list := sandbox.NetworkPolicy{Mode: sandbox.NetworkAllowlist, Allow: []string{"example.org", "example.com"}}
	some := sandbox.NetworkPolicy{Allow: []string{"example.com"}}
	for _, tc := range []struct {
		whole, own sandbox.NetworkPolicy
		ok         bool
	}{
		{list, sandbox.NetworkPolicy{}, true},
		{list, some, true},
		{list, sandbox.NetworkPolicy{Mode: sandbox.NetworkLocalhost}, true},
		{list, sandbox.NetworkPolicy{Allow: []string{"example.net"}}, false},
		{list, sandbox.NetworkPolicy{Mode: sandbox.NetworkFull}, false},
		{list, sandbox.NetworkPolicy{Mode: "everything"}, false},
		{sandbox.NetworkPolicy{Mode: sandbox.NetworkFull}, list, true},
		{sandbox.NetworkPolicy{}, sandbox.NetworkPolicy{}, true},
		{sandbox.NetworkPolicy{}, some, false},
		{sandbox.NetworkPolicy{}, sandbox.NetworkPolicy{Mode: sandbox.NetworkLocalhost}, false},
		{sandbox.NetworkPolicy{Mode: sandbox.NetworkLocalhost}, some, false},
	} {
		c := &container{spec: sandbox.Spec{Network: tc.whole.Normal()}}
		if _, err := c.narrowed(&tc.own); (err == nil) != tc.ok {
			t.Errorf("%+v in %+v: %v", tc.own, tc.whole, err)
		}
	}
}
