package config

import (
	"fmt"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/sandbox-run/sandbox-run/internal/secret"
	"github.com/sandbox-run/sandbox-run/pkg/executor/language"
)

// RuntimeAuto is the strongest runtime that works here.
const RuntimeAuto = "auto"

// Runtimes are the names of those of this build.
func Runtimes() []string { return []string{"local", "docker", "oci", "e2b", "remote"} }

// runtimes are what may be asked for.
func runtimes() []string { return append(Runtimes(), RuntimeAuto) }

// Docker is what an operator decides about the runtime docker. Where its engine is,
// the variables of the docker command say.
type Docker struct {
	// Images are the roots by language, Image that of all other languages. Without
	// one for all, the usual languages have the standard public ones.
	Images map[string]string
	Image  string
	// Runtime is an OCI runtime that the engine knows; empty is its default.
	Runtime string
	// CPULimit and MemoryLimitBytes are the most that a container gets; 0 is no
	// such ceiling.
	CPULimit         float64
	MemoryLimitBytes int64
}

// E2B is what an operator decides about the runtime e2b.
type E2B struct {
	Key        secret.Value
	KeyFile    string
	APIURL     string
	SandboxURL string
	Template   string
	VCPUHour   float64 // prices
	GiBHour    float64
}

// Remote is what an operator decides about the runtime remote.
type Remote struct {
	// Servers are addresses, each with an optional #region.
	Servers string
	Region  string
	Key     secret.Value
	KeyFile string
}

// fill gives languages the standard images, unless one is named for all.
func (d *Docker) fill() {
	if d.Image != "" {
		return
	}
	for lang, image := range dockerImages() {
		if d.Images[lang] == "" {
			d.Images[lang] = image
		}
	}
}

// dockerImages are the standard public images. Java's is a JDK.
func dockerImages() map[string]string {
	return map[string]string{
		"python": "python:3.12-slim", "javascript": "node:22-slim", "typescript": "node:22-slim",
		"go": "golang:1.26", "rust": "rust:1-slim", "java": "eclipse-temurin:21",
	}
}

const dockerImageVariable = "SANDBOX_DOCKER_IMAGE"

func technologies() []Variable {
	list := []Variable{
		{"SANDBOX_IMAGES", "", "The images that requests may name: patterns such as python:* with commas between them. Unset: at the command line any, in a server those of the image store.", false, setImages},
		{"SANDBOX_STRICT_VERSIONS", "false", "True refuses an OCI runtime or engine whose version has known holes; otherwise a warning names them.", false, into(parseBool, func(c *Config) *bool { return &c.StrictVersions })},
		{dockerImageVariable, "", "Runtime docker: the image of all languages that none is named for below; then the defaults there count for nothing. Any language may have one, by a name such as SANDBOX_DOCKER_IMAGE_RUBY.", false, into(text, func(c *Config) *string { return &c.Docker.Image })},
	}
	for _, lang := range []string{"python", "javascript", "typescript", "go", "rust", "java"} {
		list = append(list, imageVariable(lang))
	}
	return append(list,
		Variable{"DOCKER_CPU_LIMIT", "", "Runtime docker: the most cores that a container gets, e.g. 8.7.", false, into(ParseCPUs, func(c *Config) *float64 { return &c.Docker.CPULimit })},
		Variable{"DOCKER_MEMORY_LIMIT", "", "Runtime docker: the most memory that a container gets, e.g. 2g.", false, into(ParseBytes, func(c *Config) *int64 { return &c.Docker.MemoryLimitBytes })},
		Variable{"DOCKER_RUNTIME", "", "Runtime docker: an OCI runtime that the engine knows, such as runsc or kata.", false, into(text, func(c *Config) *string { return &c.Docker.Runtime })},
		Variable{"E2B_API_KEY", "", "Runtime e2b: the key.", false, into(key, func(c *Config) *secret.Value { return &c.E2B.Key })},
		Variable{"E2B_API_KEY_FILE", "", "Runtime e2b: a file that holds the key.", false, into(text, func(c *Config) *string { return &c.E2B.KeyFile })},
		Variable{"E2B_API_URL", "", "Runtime e2b: the address of the service; unset: that of e2b.app.", false, into(text, func(c *Config) *string { return &c.E2B.APIURL })},
		Variable{"E2B_SANDBOX_URL", "", "Runtime e2b: one address for the traffic of all sandboxes, in place of a host name for each.", false, into(text, func(c *Config) *string { return &c.E2B.SandboxURL })},
		Variable{"SANDBOX_E2B_TEMPLATE", "base", "Runtime e2b: the template that containers without an image are made from.", false, into(text, func(c *Config) *string { return &c.E2B.Template })},
		Variable{"SANDBOX_E2B_PRICE_VCPU_HOUR", "", "Runtime e2b: what a virtual CPU costs for an hour, for the estimate in meta.cost.", false, into(parsePrice, func(c *Config) *float64 { return &c.E2B.VCPUHour })},
		Variable{"SANDBOX_E2B_PRICE_GIB_HOUR", "", "Runtime e2b: what a GiB of memory costs for an hour.", false, into(parsePrice, func(c *Config) *float64 { return &c.E2B.GiBHour })},
		Variable{"SANDBOX_REMOTE", "", "Runtime remote: the addresses of other servers with spaces between them, each with its #region, if it has one.", false, into(text, func(c *Config) *string { return &c.Remote.Servers })},
		Variable{"SANDBOX_REMOTE_REGION", "", "Runtime remote: the region that programs must not leave; unset: any.", false, into(text, func(c *Config) *string { return &c.Remote.Region })},
		Variable{"SANDBOX_REMOTE_KEY", "", "Runtime remote: the key of those servers.", false, into(key, func(c *Config) *secret.Value { return &c.Remote.Key })},
		Variable{"SANDBOX_REMOTE_KEY_FILE", "", "Runtime remote: a file that holds the key.", false, into(text, func(c *Config) *string { return &c.Remote.KeyFile })},
	)
}

// imageVariable names the image of a language.
func imageVariable(lang string) Variable {
	return Variable{
		Name: dockerImageVariable + "_" + strings.ToUpper(lang), Default: dockerImages()[lang],
		Help: "Runtime docker: the image for " + lang + ".",
		set: func(c *Config, value string) error {
			c.Docker.Images[lang] = value
			return nil
		},
	}
}

// otherImages are the variables among names that have an image for a language
// without one of ours.
func otherImages(names []string) (list []Variable) {
	for _, name := range names {
		lang, ok := strings.CutPrefix(name, dockerImageVariable+"_")
		if !ok {
			continue
		}
		lang = strings.ToLower(lang)
		if known, _, err := language.Lookup(lang); err == nil && known.Info().Name == lang && dockerImages()[lang] == "" {
			list = append(list, imageVariable(lang))
		}
	}
	return list
}

func key(s string) (secret.Value, error) { return secret.New(s), nil }

func parsePrice(s string) (float64, error) {
	price, err := strconv.ParseFloat(s, 64)
	if err != nil || price < 0 || math.IsInf(price, 0) || math.IsNaN(price) {
		return 0, fmt.Errorf("%q is not a price", s)
	}
	return price, nil
}

func setImages(c *Config, value string) error {
	c.Images = []string{}
	for pattern := range strings.SplitSeq(value, ",") {
		pattern = strings.TrimSpace(pattern)
		if _, err := path.Match(pattern, ""); err != nil || pattern == "" {
			return fmt.Errorf("%q is no pattern of images", pattern)
		}
		if _, digest, _ := strings.Cut(pattern, "@"); strings.ContainsAny(digest, `*?[\`) {
			return fmt.Errorf("%q means no image: a digest is one image's, whatever stands before it, and has to be written out", pattern)
		}
		c.Images = append(c.Images, pattern)
	}
	return nil
}

func setRuntime(c *Config, value string) error {
	if !slices.Contains(runtimes(), value) {
		return fmt.Errorf("there is no runtime %q: it is one of %s", value, strings.Join(runtimes(), ", "))
	}
	c.Runtime = value
	return nil
}

func setFallback(c *Config, value string) error {
	if value != "" && value != "local" {
		return fmt.Errorf("%q cannot take over for another runtime: expected local, or nothing", value)
	}
	c.Fallback = value
	return nil
}

func setOCIRuntime(c *Config, value string) error {
	c.OCIRuntime = value
	return nil
}
