package packages

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/sandbox-run/sandbox-run/internal/lazyregexp"
	"github.com/sandbox-run/sandbox-run/pkg/executor/language"
	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// DefaultIndex is where packages for Python come from when the operator names no
// other index.
const DefaultIndex = "https://pypi.org/simple"

// Dir is where a run finds its packages: a virtual environment (PEP 405).
const Dir = "/packages"

// EnvironmentDir is where the installer makes it, relative to the build disk.
const EnvironmentDir = "venv"

// hostLoopback is the name of the host's loopback inside a container.
const hostLoopback = "host.docker.internal"

// ToolsDir is where the installer's container has [Plan.Tools].
const ToolsDir = "/installer"

// UV installs packages for Python with uv.
type UV struct {
	Host language.Host
	// Index is the operator's; empty means [DefaultIndex].
	Index string
	// Now tells the day; nil is the clock.
	Now func() time.Time
}

// Plan is how to install a list of requirements.
type Plan struct {
	// Key names what comes of it.
	Key string
	// Step installs into [EnvironmentDir] of the build disk.
	Step language.Step
	// Tools are the files of the host that the step needs in [ToolsDir], by name.
	Tools map[string]string

	index *url.URL
}

// Network opens the index and nothing else.
func (p *Plan) Network(ctx context.Context) sandbox.NetworkPolicy {
	return sandbox.NetworkPolicy{Mode: sandbox.NetworkAllowlist, Allow: allow(ctx, p.index), HostProxy: true}
}

// Plan says how to install. Its error is a sentence for whoever asked.
func (u UV) Plan(tc language.Toolchain, list []Requirement) (*Plan, error) {
	program, err := u.find()
	if err != nil {
		return nil, err
	}
	index, err := CheckIndex(cmp.Or(u.Index, DefaultIndex))
	if err != nil {
		return nil, err
	}
	p := &Plan{Key: u.key(tc, index, list), Tools: map[string]string{"uv": program}, index: index}
	env := []string{
		"UV_NO_CONFIG=1", "UV_PYTHON_DOWNLOADS=never", "UV_NO_PROGRESS=1", "NO_COLOR=1",
		// On the disk of the environment, so that a file is there once, and thrown
		// away with the container.
		"UV_CACHE_DIR=" + sandbox.BuildDir + "/cache", "UV_LINK_MODE=hardlink",
	}
	if bundle := u.certificates(); bundle != "" && index.Scheme == "https" {
		p.Tools["certificates"] = bundle
		env = append(env, "SSL_CERT_FILE="+ToolsDir+"/certificates")
	}
	p.Step = language.Step{Env: env, Args: []string{
		"/bin/sh", "-c", installScript, ToolsDir + "/uv", tc.Program, sandbox.BuildDir + "/" + EnvironmentDir, inside(index),
	}}
	for _, r := range list {
		p.Step.Args = append(p.Step.Args, r.String())
	}
	return p, nil
}

// installScript makes an environment that may be moved and fills it with wheels.
// Nothing that they hold is run. Nobody can write the environment when it is used,
// so that bytecode is made now; not by uv, whose Python starts with the .pth files
// of the packages, and these are code. Several processes need shared memory, which
// isolation restricted does not have. What does not compile is left as it is.
const installScript = `uv=$0 python=$1 venv=$2 index=$3; shift 3
"$uv" venv --quiet --relocatable --python "$python" "$venv" &&
"$uv" pip install --python "$venv/bin/python3" --index-url "$index" --no-build -- "$@" &&
set -- -I -S -m compileall -qq --invalidation-mode unchecked-hash &&
{ "$python" "$@" -j 0 "$venv/lib" 2>/dev/null || "$python" "$@" "$venv/lib" || :; }`

// key names an environment by all that it follows from.
func (u UV) key(tc language.Toolchain, index *url.URL, list []Requirement) string {
	now := time.Now
	if u.Now != nil {
		now = u.Now
	}
	h := sha256.New()
	fmt.Fprintf(h, "%q\n", []string{
		"uv 1", tc.Language, tc.Version, tc.Program, tc.Image, runtime.GOOS, runtime.GOARCH,
		index.String(), now().UTC().Format(time.DateOnly),
	})
	for _, r := range list {
		fmt.Fprintf(h, "%q\n", r.String())
	}
	return fmt.Sprintf("python-%x", h.Sum(nil)[:16])
}

// find looks for uv where its installers put it.
func (u UV) find() (string, error) {
	dirs := append([]string{}, u.Host.Path...)
	if u.Host.Home != "" {
		dirs = append(dirs, filepath.Join(u.Host.Home, ".local", "bin"), filepath.Join(u.Host.Home, ".cargo", "bin"))
	}
	dirs = append(dirs, "/usr/local/bin")
	for _, dir := range dirs {
		if !filepath.IsAbs(dir) {
			continue
		}
		if program := filepath.Join(dir, "uv"); isProgram(program) {
			return program, nil
		}
	}
	return "", errors.New("packages need uv, which is not installed on this machine: pip install uv")
}

// isProgram tells the program itself from the script that a version manager puts
// in its place, which would not work in a container.
func isProgram(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	info, err := f.Stat()
	magic := make([]byte, 4)
	n, _ := f.Read(magic)
	return err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 && string(magic[:n]) == "\x7fELF"
}

// certificates finds the host's bundle: the one that its environment names, else
// where distributions have it.
func (u UV) certificates() string {
	names := []string{
		"/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/ca-bundle.pem", "/etc/ssl/cert.pem",
	}
	if u.Host.Getenv != nil {
		names = append([]string{u.Host.Getenv("SSL_CERT_FILE")}, names...)
	}
	for _, name := range names {
		if info, err := os.Stat(name); filepath.IsAbs(name) && err == nil && info.Mode().IsRegular() {
			return name
		}
	}
	return ""
}

// CheckIndex reads the address of an index. A password would be seen inside the
// sandbox, so none is taken.
func CheckIndex(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Hostname() == "" || u.Scheme != "https" && u.Scheme != "http":
		return nil, errors.New("the index is not an http or https address, such as " + DefaultIndex)
	case u.Port() != "" && !isPort(u.Port()):
		return nil, fmt.Errorf("the address of the index has the port %s: at most 65535", u.Port())
	case u.User != nil:
		return nil, errors.New("the address of the index holds a user name or password, which the sandbox would see; put a proxy that adds it in front")
	case u.RawQuery != "" || u.Fragment != "":
		return nil, errors.New("the address of the index has a query or fragment")
	}
	return u, nil
}

func isPort(text string) bool {
	n, err := strconv.ParseUint(text, 10, 16)
	return err == nil && n > 0
}

// inside is the address of an index as a container sees it.
func inside(index *url.URL) string {
	u := *index
	if isLoopback(u.Hostname()) {
		u.Host = strings.TrimSuffix(net.JoinHostPort(hostLoopback, u.Port()), ":")
	}
	return u.String()
}

func isLoopback(host string) bool {
	address, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && address.IsLoopback()
}

// lookupTimeout bounds the look-up of an index's address.
const lookupTimeout = 5 * time.Second

// allow lists the index, and where PyPI keeps its files. The operator has named
// them, so that their addresses are open wherever they lie.
func allow(ctx context.Context, index *url.URL) (entries []string) {
	port := cmp.Or(index.Port(), map[string]string{"https": "443", "http": "80"}[index.Scheme])
	number, _ := strconv.ParseUint(port, 10, 16) // CheckIndex has seen it
	if isLoopback(index.Hostname()) {
		return []string{net.JoinHostPort("localhost", port)}
	}
	hosts := []string{index.Hostname()}
	if index.Hostname() == "pypi.org" {
		hosts = append(hosts, "files.pythonhosted.org")
	}
	ctx, cancel := context.WithTimeout(ctx, lookupTimeout)
	defer cancel()
	for _, host := range hosts {
		entries = append(entries, net.JoinHostPort(host, port))
		if _, err := netip.ParseAddr(host); err == nil {
			continue
		}
		addresses, _ := net.DefaultResolver.LookupNetIP(ctx, "ip", host) // a proxy may know the name
		for _, a := range addresses {
			entries = append(entries, netip.AddrPortFrom(a.Unmap(), uint16(number)).String())
		}
	}
	return entries
}

var (
	// uv says "error: …" and "cause: …", once it drew a tree.
	cause = lazyregexp.New(`(?m)^\s*(?:cause:|╰─▶|├─▶|Caused by:)\s*`)
	hint  = lazyregexp.New(`(?m)^\s*(?:hint:|help:)`)
	space = lazyregexp.New(`\s+`)
)

// Reason is what uv says of a failure, in one line; empty when it says nothing.
func Reason(stderr string) string {
	start := max(strings.LastIndex(stderr, "error: "), strings.LastIndex(stderr, "× "))
	if start < 0 {
		return ""
	}
	said := stderr[start:]
	if end := hint().FindStringIndex(said); end != nil {
		said = said[:end[0]]
	}
	parts := cause().Split(said, -1)
	reason := strings.TrimPrefix(strings.TrimPrefix(parts[0], "error: "), "× ")
	if n := len(parts); n > 1 {
		reason = strings.TrimSpace(parts[1])
		if n > 2 {
			reason += ": " + parts[n-1]
		}
	}
	return strings.TrimSpace(space().ReplaceAllString(reason, " "))
}
