// Package hostile runs programs that want out, or want to take the machine with
// them, on the built sandbox-server, and looks at the machine after each.
//
// A row of the catalogue is a file of rows, or a test here where the hostile part
// is the request. Each runs once, in its cheapest language, with level and user taking
// turns; with -all every row runs in every language and combination.
package hostile

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/sandbox-run/sandbox-run/pkg/client"
	"github.com/sandbox-run/sandbox-run/test/internal/testenv"
)

var (
	allOf = flag.Bool("all", false, "run every row in every language, level and user")
	types = flag.String("types", "", "runtimes beside local, such as oci,docker,remote: the values of SANDBOX_TYPE")
	place = flag.String("combination", "", "run on this one alone, such as \"local full root\"")
	only  = flag.String("row", "", "run the rows alone whose names or catalogue numbers these are, separated by commas")
	extra = flag.Duration("patience", 2*time.Minute, "how long a run may take beside what its program may")
	slow  = flag.Float64("slow", 1, "how many times as long a program may run that does not have to be stopped, where a processor is emulated")
	busy  = flag.Bool("shared", false, "others run sandboxes on this machine as well: look at nothing but what is the server's own")
	ready = flag.Bool("ready", false, "have each row's container made before it comes, with what waits in it; what is counted on the machine wavers then, and is looked at when the servers have ended")
	// plainPath has no toolchain of anybody's home.
	plainPath = flag.String("path", "/usr/local/go/bin:/usr/local/bin:/usr/bin:/bin", "where servers at restricted, which see the host's root, look for toolchains")

	table  = flag.String("table", "", "write the table of what was seen, a page of Markdown, to this file")
	goOn   = flag.String("journal", "", "keep what was seen in this file, and leave out what it says was as it should be with the same server")
	period = flag.Duration("for", 0, "begin nothing more after this time")
)

// binary is the server under test, and work a directory that every user can read.
var binary, work string

func TestMain(m *testing.M) {
	flag.Parse()
	testenv.Main(func(dir string) (code int, err error) {
		work = dir
		if binary, err = testenv.Program(dir, "sandbox-server", "SANDBOX_TEST_SERVER"); err != nil {
			return 0, err
		}
		if *goOn != "" {
			if journal, seen, err = openDiary(*goOn, binary); err != nil {
				return 0, err
			}
		}
		before := everything()
		code = m.Run()
		if *table != "" && len(seen) > 0 {
			err = os.WriteFile(*table, []byte(summary(seen)), 0o644)
		}
		for _, c := range combinations() {
			for _, s := range c.servers() {
				err = cmp.Or(err, s.Stop())
			}
		}
		if !*busy {
			err = cmp.Or(err, leftBehind(before))
		}
		return code, err
	})
}

// combination is a server of one runtime, level and user.
type combination struct {
	runtime, level, user string

	settings []string            // of its server
	as       *syscall.Credential // the user that it starts as, where that is another
	server   *testenv.Server
	behind   *testenv.Server // what runs the programs where that is another server
	client   *client.Client
	nextTo   *client.Client           // another tenant's
	warmed   map[string]bool          // languages that have run once
	hellos   map[string]time.Duration // how long a hello of theirs took then, at most
	ticks    time.Duration            // and the run next door
	begin    func()                   // has the run next door go on beside a test, and
	going    func() time.Duration     // ends it; nil where there is none
	idle     map[string]string        // what the machine looked like when the server was idle
	gauges   map[string]int           // and its descriptors, goroutines and memory
	clock    time.Duration            // the host's, beside the time since its start
	langs    map[string]string        // the versions of languages that it has
}

func (c *combination) String() string { return strings.Join(c.words(), " ") }

// words are what conditions in rows name.
func (c *combination) words() []string { return []string{c.runtime, c.level, c.user} }

// servers are those that have been started.
func (c *combination) servers() []*testenv.Server {
	return slices.DeleteFunc([]*testenv.Server{c.server, c.behind}, func(s *testenv.Server) bool { return s == nil })
}

// combinations are all of this machine, in the order in which rows take turns.
// Ordinary users there are only where root can become one.
var combinations = sync.OnceValue(func() (found []*combination) {
	users := []string{"ordinary"}
	if os.Geteuid() == 0 {
		users = []string{"root", "ordinary"}
	}
	for _, level := range []string{"full", "restricted"} {
		for _, user := range users {
			found = append(found, &combination{runtime: "local", level: level, user: user})
		}
	}
	for _, name := range strings.Split(*types, ",") {
		if name != "" {
			found = append(found, &combination{runtime: name, level: "full", user: users[0]})
		}
	}
	return slices.DeleteFunc(found, func(c *combination) bool { return *place != "" && *place != c.String() })
})

// dir is the home of the combination's server.
func (c *combination) dir() string {
	return filepath.Join(work, strings.ReplaceAll(c.String(), " ", "-"))
}

// data is where it keeps things: both levels share what is prepared for a language.
func (c *combination) data() string {
	if *ready && c.uid() != os.Geteuid() {
		return filepath.Join(work, "data-"+c.user+"-"+c.level)
	}
	return filepath.Join(work, "data-"+c.user)
}

// behind ends the name of the directory in which the server behind a remote one keeps things.
const behind = "-behind"

// speaks tells whether the combination's server, which it starts, has a language.
func (c *combination) speaks(t *testing.T, lang string) bool {
	t.Helper()
	c.start(t)
	if c.langs == nil {
		h, err := c.client.Health(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		c.langs = h.Languages
	}
	return c.langs[lang] != ""
}

// engine are the settings for the engine that the tests have, where it makes the containers.
func (c *combination) engine() []string {
	if c.runtime != "docker" {
		return nil
	}
	return []string{"DOCKER_HOST=" + os.Getenv("SANDBOX_TEST_ENGINE"), "SANDBOX_DOCKER_IMAGE=" + os.Getenv("SANDBOX_TEST_ENGINE_IMAGE")}
}

// ourKey is the key of the tenant whose programs are hostile, theirKey that of another.
const ourKey, theirKey = "key-of-who-attacks", "key-of-who-is-next-to-it"

// keys writes a file of both.
func (c *combination) keys() (name string, err error) {
	name = filepath.Join(c.dir(), "keys.yaml")
	return name, os.WriteFile(name, []byte("- {key: "+ourKey+", tenant: hostile}\n- {key: "+theirKey+", tenant: neighbour}\n"), 0o600)
}

// ordinaryUser is nobody: a user without any privilege.
const ordinaryUser = 65534

// uid is the server's user. What waits for one server takes of what the kernel grants its user, so that
// servers with ready containers have a user each.
func (c *combination) uid() int {
	switch {
	case c.user != "ordinary" || os.Geteuid() != 0:
		return os.Geteuid()
	case *ready && c.level == "restricted":
		return ordinaryUser - 1
	}
	return ordinaryUser
}

// start starts the combination's server, once.
func (c *combination) start(t *testing.T) {
	t.Helper()
	if c.server != nil {
		return
	}
	kernelLog() // from before the first run on
	dir, data := c.dir(), c.data()
	settings := []string{"SANDBOX_TYPE=" + c.runtime, "SANDBOX_ISOLATION=" + c.level, "SANDBOX_DATA_DIR=" + data,
		"SANDBOX_MAX_CONCURRENT=64", "HOME=" + dir, "XDG_RUNTIME_DIR=" + filepath.Join(dir, "run")}
	if c.level == "restricted" { // which sees the host's root: no toolchain of root's home
		settings = append(settings, "PATH="+*plainPath)
	}
	settings = append(settings, c.engine()...)
	settings = append(settings, "SANDBOX_COMPILE_CACHE_MB=0") // a hello is to need its compiler
	if *ready {
		settings = append(settings, "SANDBOX_WARM=auto")
	}
	if err := errors.Join(os.MkdirAll(filepath.Join(dir, "run"), 0o700), os.MkdirAll(data, 0o755)); err != nil {
		t.Fatal(err)
	}
	keys, err := c.keys()
	if err != nil {
		t.Fatal(err)
	}
	uid := c.uid()
	if err := testenv.Prepared(data, uid); err != nil {
		t.Fatal(err)
	}
	if home, err := os.UserHomeDir(); err == nil && c.level == "full" && c.user == "root" {
		_ = os.Symlink(filepath.Join(home, ".rustup"), filepath.Join(dir, ".rustup")) // below what is HOME here
	}
	if uid != os.Geteuid() {
		c.as = &syscall.Credential{Uid: uint32(uid), Gid: uint32(uid)}
		for _, d := range []string{dir, data, filepath.Join(dir, "run"), keys} {
			if err := os.Chown(d, uid, uid); err != nil {
				t.Fatal(err)
			}
		}
	}
	if *ready && c.runtime == "local" {
		if err := testenv.Fill(binary, c.as, settings...); err != nil {
			t.Fatal(err)
		}
	}
	if c.runtime == "remote" {
		if c.behind, err = testenv.Launch(binary, c.as, append(settings, "SANDBOX_TYPE=local", "SANDBOX_DATA_DIR="+data+behind)...); err != nil {
			t.Fatal(err)
		}
		settings = append(settings, "SANDBOX_REMOTE="+c.behind.URL)
	}
	c.settings = append(settings, "SANDBOX_API_KEYS_FILE="+keys)
	if c.server, err = testenv.Launch(binary, c.as, c.settings...); err != nil {
		t.Fatal(err)
	}
	c.server.Key = ourKey
	for _, other := range combinations() {
		other.warmed = nil // what the machine looked like when that was idle had no such server
	}
	if c.client, err = client.New(c.server.URL, client.Options{Key: ourKey}); err != nil {
		t.Fatal(err)
	}
	if c.nextTo, err = client.New(c.server.URL, client.Options{Key: theirKey}); err != nil {
		t.Fatal(err)
	}
}

// beside is another server like the combination's, with settings of its own. It has to stop before
// the machine is looked at.
func (c *combination) beside(t *testing.T, settings ...string) (other *combination, stop func()) {
	t.Helper()
	other = &combination{runtime: c.runtime, level: c.level, user: c.user}
	var err error
	if other.server, err = testenv.Launch(binary, c.as, slices.Concat(c.settings, settings)...); err != nil {
		t.Fatal(err)
	}
	if other.client, err = client.New(other.server.URL, client.Options{Key: ourKey}); err != nil {
		t.Fatal(err)
	}
	return other, func() {
		other.client.Close()
		if err := other.server.Stop(); err != nil {
			t.Error(err)
		}
	}
}

// stop ends the servers as a crash does: what a row has broken is not the next one's.
func (c *combination) stop() {
	for _, s := range c.servers() {
		s.Kill()
	}
	c.server, c.behind = nil, nil
}

// canary is a file outside of every sandbox that everybody may write to.
var canary = sync.OnceValues(func() (string, error) {
	path := filepath.Join(work, "canary")
	if err := os.WriteFile(path, []byte("untouched\n"), 0o666); err != nil {
		return "", err
	}
	if err := os.Chmod(path, 0o666); err != nil {
		return "", fmt.Errorf("open the canary to everybody: %w", err)
	}
	return path, nil
})
