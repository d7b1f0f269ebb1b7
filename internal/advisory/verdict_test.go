package advisory

import (
	"errors"
	"strings"
	"testing"

	"github.com/sandbox-run/sandbox-run/pkg/api"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// What only an image can use is said, and refused, where there is one.
func TestVerdict(t *testing.T) {
	v := Judge(Component{Name: "crun", Version: "1.27"}, Component{Name: linux, Version: "6.18.44"})
	if v.Warnings(false) != nil || v.Refuse(false) != nil {
		t.Errorf("without an image: %q, %v", v.Warnings(false), v.Refuse(false))
	}
	if w := v.Warnings(true); len(w) != 1 || !strings.Contains(w[0], "CVE-2026-47766") || !strings.Contains(w[0], "fixed in 1.28") {
		t.Errorf("with an image: %q", w)
	}
	var refused *sandbox.UnsupportedError
	if err := v.Refuse(true); !errors.As(err, &refused) || !strings.Contains(err.Error(), "crun 1.27 has CVE-2026-47766") || !strings.Contains(err.Error(), "Install crun 1.28 or later") || !strings.Contains(err.Error(), "SANDBOX_STRICT_VERSIONS") {
		t.Errorf("refused with: %v", err)
	}
	if m := v.Mechanism(); m.Name != "versions" || m.State != api.Degraded || !strings.Contains(m.Detail, "CVE-2026-47766") || m.Mend != "install crun 1.28 or later" {
		t.Errorf("doctor shows %+v", m)
	}
}

// The step that mends the newest hole of a component mends the older ones: it is
// said once.
func TestMendOnce(t *testing.T) {
	v := Judge(Component{Name: "runc", Version: "1.1.5"}, Component{Name: linux, Version: "6.12.80"})
	if want := "install runc 1.2.8 or later; boot Linux 6.12.86 or later"; v.mend(false) != want {
		t.Errorf("%q, want %q", v.mend(false), want)
	}
	if want := "install runc 1.3.6 or later; boot Linux 6.12.86 or later"; v.mend(true) != want {
		t.Errorf("%q, want %q", v.mend(true), want)
	}
}

func TestNothingFound(t *testing.T) {
	fine := Judge(Component{Name: "runc", Version: "1.5.2"}, Component{Name: linux, Version: "7.1.3"})
	if m := fine.Mechanism(); m.State != api.Enforced || m.Detail != "no known hole in runc 1.5.2, linux 7.1.3" || m.Mend != "" || fine.Refuse(true) != nil {
		t.Errorf("%+v, %v", m, fine.Refuse(true))
	}
	silent := Judge(Component{Name: "runc", Version: "1.5.2"}, Component{Name: "somerun", Version: "3"}, Component{Name: linux})
	if m := silent.Mechanism(); m.State != api.Absent || m.Detail != "no known hole in runc 1.5.2; its version tells nothing: somerun, linux" || silent.Refuse(true) != nil {
		t.Errorf("%+v, %v", m, silent.Refuse(true))
	}
	if err := Judge(Component{Name: "runc", Version: "unknown"}).Refuse(false); err == nil || !strings.Contains(err.Error(), "the version of runc cannot be read") {
		t.Errorf("a runc of an unknown version: %v", err)
	}
}
