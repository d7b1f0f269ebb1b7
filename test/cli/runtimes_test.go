package cli

import (
	"flag"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// Which OCI runtimes the verdicts are seen in, beside this machine's kernel. More
// than one is for make test-oci.
var ociPrograms = flag.String("oci", "crun", "OCI runtimes to test, separated by commas; each with flags of its own")

// ociRuntimes are root with OCI runtimes: the same programs end the same way in
// them.
func ociRuntimes(t *testing.T) (list []user) {
	t.Helper()
	if os.Geteuid() != 0 || os.Getenv("SANDBOX_VM_USER") != "" || inContainer != "" || *ociPrograms == "" {
		return nil
	}
	for command := range strings.SplitSeq(*ociPrograms, ",") {
		name, _, _ := strings.Cut(command, " ")
		list = append(list, user{name: name, self: true, needs: name, env: []string{"SANDBOX_TYPE=oci", "SANDBOX_OCI_RUNTIME=" + command}})
	}
	return list
}

// installed skips where a program is not there that the user needs.
func (u user) installed(t *testing.T) {
	t.Helper()
	if u.needs == "" {
		return
	}
	if _, err := exec.LookPath(u.needs); err != nil {
		t.Skipf("%s is not installed", u.needs)
	}
}

// TestFallback: what cannot be used is an error, or another runtime that says so;
// and never less than was asked for by name.
func TestFallback(t *testing.T) {
	missing := []string{"SANDBOX_TYPE=oci", "SANDBOX_OCI_RUNTIME=/no/such/runtime"}
	program := []string{"--lang", "bash", "--code", "echo ran"}
	o := invocation{user: user{self: true}, env: missing, args: program}.run(t)
	if o.code != 125 || o.stdout != "" || !strings.Contains(o.stderr, "/no/such/runtime") {
		t.Errorf("%+v", o)
	}
	fallback := append(missing, "SANDBOX_FALLBACK=local")
	r, o := invocation{user: user{self: true}, env: fallback, args: program}.result(t)
	if o.code != 0 || r.Stdout != "ran\n" || r.Meta.Runtime != "local" || len(r.Meta.Warnings) == 0 || !strings.Contains(r.Meta.Warnings[0], "runtime oci cannot be used, so local runs this") {
		t.Errorf("%+v: %+v", o, r)
	}
	o = invocation{user: user{self: true}, env: []string{"SANDBOX_TYPE=auto", "SANDBOX_OCI_RUNTIME=/no/such/runsc"}, args: append(program, "--output", "raw")}.run(t)
	if o.code != 0 || o.stdout != "ran\n" {
		t.Errorf("auto: %+v", o)
	}
}

// TestOCIRefuses what its containers cannot hold, before anything runs.
func TestOCIRefuses(t *testing.T) {
	list := ociRuntimes(t)
	if len(list) == 0 {
		t.Skip("OCI runtimes are driven as root")
	}
	list[0].installed(t)
	for flag, want := range map[string]string{
		"--isolation=restricted": "isolation restricted cannot be enforced here",
		"--allow=example.org":    "network allowlist cannot be enforced here",
		"--on-disk":              "a workspace on disk cannot be enforced here",
	} {
		o := invocation{user: list[0], args: []string{flag, "--lang", "bash", "--code", "echo ran"}}.run(t)
		if o.code != 2 || o.stdout != "" || !strings.Contains(o.stderr, want) || strings.Count(strings.TrimSpace(o.stderr), "\n") > 0 {
			t.Errorf("%s: %+v", flag, o)
		}
	}
}
