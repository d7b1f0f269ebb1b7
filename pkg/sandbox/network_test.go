package sandbox

import (
	"errors"
	"testing"
)

func TestNetworkPolicy(t *testing.T) {
	for _, tc := range []struct {
		policy NetworkPolicy
		mode   NetworkMode
		out    bool
		field  string // of the fault
	}{
		{NetworkPolicy{}, NetworkNone, false, ""},
		{NetworkPolicy{HostProxy: true}, NetworkNone, false, ""},
		{NetworkPolicy{Allow: []string{"example.org"}}, NetworkAllowlist, true, ""},
		{NetworkPolicy{AllowDNS: true}, NetworkAllowlist, true, ""},
		{NetworkPolicy{Mode: NetworkAllowlist}, NetworkAllowlist, true, ""},
		{NetworkPolicy{Mode: NetworkFull, Allow: []string{"localhost:80"}, AllowDNS: true}, NetworkFull, true, ""},
		{NetworkPolicy{Mode: NetworkLocalhost}, NetworkLocalhost, false, ""},
		{NetworkPolicy{Mode: NetworkLocalhost, Allow: []string{"example.org"}}, NetworkLocalhost, false, "allow"},
		{NetworkPolicy{Mode: NetworkNone, AllowDNS: true}, NetworkNone, false, "allow_dns"},
		{NetworkPolicy{Mode: "Full"}, "Full", false, "mode"},
	} {
		p := tc.policy.Normal()
		if p.Mode != tc.mode || p.LeadsOut() != tc.out {
			t.Errorf("%+v: mode %s, leads out %v", tc.policy, p.Mode, p.LeadsOut())
		}
		var fault *NetworkError
		if err := p.Validate(); errors.As(err, &fault) != (tc.field != "") || fault != nil && (fault.Field != tc.field || fault.Error() == "") {
			t.Errorf("%+v: %v, want a fault of %q", tc.policy, err, tc.field)
		}
	}
}
