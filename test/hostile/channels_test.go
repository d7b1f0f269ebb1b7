package hostile

import (
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sandbox-run/sandbox-run/pkg/api"
	"github.com/sandbox-run/sandbox-run/pkg/client"
)

// TestChannels has two runs go on at once: main, which says ready once it holds or
// watches something, and next.py, which tries to notice or to disturb it. What both
// say after that is the row's stdout, first that of next. Each such file of
// rows/channels is a row in every other way.
func TestChannels(t *testing.T) {
	all, err := rows("rows/channels")
	if err != nil {
		t.Fatal(err)
	}
	for i, r := range all {
		if r.files["next.py"] == "" {
			t.Fatalf("%s: no next.py", r.name)
		}
		if !r.wanted() {
			continue
		}
		t.Run(r.name, func(t *testing.T) {
			for _, v := range variants(t, r, i) {
				t.Run(v.combination.String()+"/"+v.lang, func(t *testing.T) { v.pair(t) })
			}
		})
	}
}

// pair runs main, and next beside it: of the same tenant, and of another.
func (v variant) pair(t *testing.T) {
	s := &sight{variant: v}
	defer s.add(t)
	if s.Skipped = v.row.field("skip", v.words()); s.Skipped != "" {
		t.Skip(s.Skipped)
	}
	c := v.combination
	c.start(t)
	c.warm(t, v.lang)
	c.warm(t, "python")
	for _, next := range []*client.Client{c.client, c.nextTo} {
		v.side(t, next)
	}
	c.greets(t, v.lang)
	c.check(t)
}

// side runs main until next has ended.
func (v variant) side(t *testing.T, next *client.Client) {
	t.Helper()
	first, err := v.row.asked(v.lang, nil)
	if err != nil {
		t.Fatal(err)
	}
	first.TimeoutSeconds = 60 // it is cancelled when next has ended
	second := first
	second.Language, second.Entry = "python", "next.py"
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	var said, heard strings.Builder
	var running sync.WaitGroup
	ready := false
	r, err := v.combination.client.Stream(ctx, first, func(e api.Event) error {
		if e.Type != api.EventStdout {
			return nil
		}
		said.WriteString(e.Data)
		if ready || !strings.Contains(said.String(), "ready\n") {
			return nil
		}
		ready = true
		running.Go(func() {
			defer cancel()
			r, err := next.Execute(ctx, second)
			if err != nil {
				t.Errorf("next: %v", err)
				return
			}
			if r.Status != api.StatusOK {
				t.Errorf("next: status %s, %s, stderr %.2000s", r.Status, r.Message, r.Stderr)
			}
			heard.WriteString(r.Stdout)
		})
		return nil
	})
	running.Wait()
	if !ready || !errors.Is(err, context.Canceled) {
		if r != nil {
			t.Logf("main: status %s, %s\nstdout: %.2000s\nstderr: %.2000s", r.Status, r.Message, r.Stdout, r.Stderr)
		}
		t.Fatalf("main ended before next: %v", err)
	}
	_, saw, _ := strings.Cut(said.String(), "ready\n")
	want := v.row.field("stdout", v.words())
	if want == "" {
		want = `^done\n$`
	}
	if got := heard.String() + saw; !regexp.MustCompile(want).MatchString(got) {
		t.Errorf("together they say %.4000q, which does not match %s", got, want)
	}
}

// TestTokensStayApart is D26: of a hundred runs at once, each gives back its own
// input, arguments and files, and nothing of another.
func TestTokensStayApart(t *testing.T) {
	const script = `import os, sys
token = sys.stdin.read()
with open("kept", "x") as f: f.write(token)
sys.stderr.write(open("given").read())
os.write(1, (token + sys.argv[1] + os.environ["TOKEN"]).encode())`
	each(t, "D26", "A hundred runs at once, each with its own input, arguments and files.", func(t *testing.T, c *combination) {
		c.warm(t, "python")
		var running sync.WaitGroup
		slots := make(chan struct{}, 16)
		for i := range 100 {
			running.Go(func() {
				slots <- struct{}{}
				defer func() { <-slots }()
				token := fmt.Sprintf("<%03d>", i)
				r, err := c.client.Execute(t.Context(), api.Request{
					Language: "python", Code: script, Stdin: token, Args: []string{token}, Env: map[string]string{"TOKEN": token},
					Files: map[string]api.InputFile{"given": {Content: token}}, TimeoutSeconds: 30,
				})
				if err != nil {
					t.Error(err)
				} else if r.Stdout != token+token+token || r.Stderr != token || len(r.Files) != 1 || r.Files["kept"].Content != token {
					t.Errorf("%s: status %s, %s, stdout %q, stderr %q, files %v", token, r.Status, r.Message, r.Stdout, r.Stderr, r.Files)
				}
			})
		}
		running.Wait()
	})
}

// posture prints what a process inherits, and what lies around it.
const posture = `import ctypes, os, resource, signal, threading
libc = ctypes.CDLL(None)
print(libc.shmget(77, 0, 0), libc.semget(77, 0, 0), libc.msgget(77, 0), libc.mq_open(b"/left", 0))
print(os.umask(0o22), os.getcwd(), os.getuid() == os.getgid(), len(os.getgroups()), os.getpriority(os.PRIO_PROCESS, 0), os.sched_getscheduler(0))
for name in sorted(n for n in dir(resource) if n.startswith("RLIMIT_")):
    print(name, resource.getrlimit(getattr(resource, name)))
for line in open("/proc/self/status"):
    if line.split(":")[0] in ("SigBlk", "SigIgn", "SigPnd", "ShdPnd", "CapEff", "CapBnd", "CapAmb", "NoNewPrivs", "Seccomp", "Seccomp_filters", "Threads", "CoreDumping"):
        print(line.split())
print(len(os.sched_getaffinity(0)), [signal.getitimer(t) for t in (0, 1, 2)], threading.active_count(), sorted(os.environ))
for fd in range(64):
    try: print(fd, os.readlink(f"/proc/self/fd/{fd}").split(":")[0])
    except OSError: pass
for top in ("/tmp", "/var/tmp", "/dev/shm", "/dev/pts", "/dev/mqueue", "/workspace", os.environ["TMPDIR"], os.getcwd()):
    try: print(sorted(os.listdir(top)))
    except OSError as e: print(e.errno)
print(open("/proc/self/oom_score_adj").read(), open("/proc/self/coredump_filter").read(), open("/proc/self/personality").read() if os.access("/proc/self/personality", os.R_OK) else "", open("/proc/self/timerslack_ns").read())`

// drift changes all of that, and leaves what it can.
const drift = `import ctypes, os, resource, signal, subprocess
os.umask(0)
for s in range(1, 65):
    try: signal.signal(s, signal.SIG_IGN)
    except (OSError, ValueError): pass
signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 65))
for name in (n for n in dir(resource) if n.startswith("RLIMIT_")):
    try: resource.setrlimit(getattr(resource, name), (0 if "CORE" in name else resource.getrlimit(getattr(resource, name))[0],) * 2)
    except (OSError, ValueError): pass
libc = ctypes.CDLL(None)
libc.shmget(77, 4096, 0o1666); libc.semget(77, 1, 0o1666); libc.msgget(77, 0o1666)
libc.mq_open(b"/left", os.O_CREAT | os.O_RDWR, 0o666, None)
for top in ("/tmp", "/var/tmp", "/dev/shm", "/dev/mqueue", "/workspace", os.environ["TMPDIR"], os.environ["HOME"]):
    try:
        open(top + "/left", "w").write("left")
        os.mkdir(top + "/directory", 0)
        os.mkfifo(top + "/fifo")
    except OSError: pass
for name in ("oom_score_adj", "coredump_filter", "timerslack_ns"):
    try: open("/proc/self/" + name, "w").write("1000")
    except OSError: pass
try: os.nice(19)
except OSError: pass
subprocess.Popen(["sleep", "1000"], start_new_session=True)
print("done")`

// TestPosture is D12 to D14: what a run inherits is the same before and after one that
// has changed all that it could.
func TestPosture(t *testing.T) {
	each(t, "D12", "What a run inherits, before and after one that has changed all that it could.", func(t *testing.T, c *combination) {
		c.warm(t, "python")
		run := func(code string) string {
			t.Helper()
			r, err := c.client.Execute(t.Context(), api.Request{Language: "python", Code: code})
			if err != nil {
				t.Fatal(err)
			}
			if r.Status != api.StatusOK {
				t.Errorf("status %s, %s\n%s", r.Status, r.Message, r.Stderr)
			}
			return ownDirectory.ReplaceAllString(r.Stdout, "/ID")
		}
		first := run(posture)
		if !strings.HasPrefix(first, "-1 -1 -1 -1\n") {
			t.Errorf("there are objects of System V or queues of messages at the first look: %s", first)
		}
		for range 3 {
			run(drift)
			if now := run(posture); now != first {
				t.Errorf("it was\n%s\nand is\n%s", first, now)
			}
		}
	})
}

// ownDirectory is the part of a path that names a container.
var ownDirectory = regexp.MustCompile(`/i[0-9a-f]+-[0-9a-f]+-\d+`)

// TestChance is D23, and of D21 what is by chance: it differs between runs.
func TestChance(t *testing.T) {
	const code = `import ctypes, os, random, uuid, tempfile
print(hash("a"))
print(os.urandom(8).hex())
print(random.random())
print(uuid.uuid4())
print(uuid.uuid1().int >> 64 ^ uuid.getnode())
print(open("/proc/sys/kernel/random/uuid").read().strip())
print(hex(ctypes.addressof(ctypes.c_int.in_dll(ctypes.CDLL(None), "opterr"))))
print(hex(id(object())))
print([l.split("-")[0] for l in open("/proc/self/maps") if "[stack]" in l])
print(next(tempfile._get_candidate_names()))
print(ctypes.string_at(ctypes.c_void_p.from_buffer(ctypes.c_void_p(int.from_bytes(open("/proc/self/auxv", "rb").read().split((25).to_bytes(8, "little"), 1)[1][:8], "little"))).value, 16).hex())`
	each(t, "D23", "What must be by chance differs between runs.", func(t *testing.T, c *combination) {
		c.warm(t, "python")
		// Who has drawn what, and how often.
		drawn := map[string]map[string]int{}
		runs := 20
		if *allOf {
			runs = 100
		}
		for tenant, from := range map[string]*client.Client{"ours": c.client, "theirs": c.nextTo} {
			for range runs {
				r, err := from.Execute(t.Context(), api.Request{Language: "python", Code: code})
				if err != nil || r.Status != api.StatusOK {
					t.Fatal(r, err)
				}
				for i, line := range strings.Split(strings.TrimSpace(r.Stdout), "\n") {
					key := fmt.Sprint(i, " ", line)
					if drawn[key] == nil {
						drawn[key] = map[string]int{}
					}
					drawn[key][tenant]++
				}
			}
		}
		for what, by := range drawn {
			// What runs of one ancestor have in common, as docs/SECURITY.md says: seed, layout and canary.
			line, _, _ := strings.Cut(what, " ")
			inherited := *ready && slices.Contains([]string{"0", "6", "7", "8", "10"}, line)
			if len(by) > 1 || !inherited && (by["ours"] > 1 || by["theirs"] > 1) {
				t.Errorf("of %d runs of each tenant so many have drawn %s: %v", runs, what, by)
			}
		}
	})
}

// each runs a test of the catalogue on every combination, or without -all on one of local's, which
// take turns by the tests' names; see [on].
func each(t *testing.T, id, tries string, test func(*testing.T, *combination)) {
	t.Helper()
	some := combinations()
	if !*allOf {
		some = inTurn(t, some)
	}
	on(t, some, id, tries, test)
}

// inTurn is the one of some combinations whose turn it is by the test's name.
func inTurn(t *testing.T, some []*combination) []*combination {
	turn := crc32.ChecksumIEEE([]byte(t.Name()))
	return some[int(turn)%len(some):][:1]
}

// alone are tests that count runs, control groups, memory or the work of all, in which the run next
// door would be counted: it goes behind them.
var alone = []string{"A19", "A39", "B11", "C17", "G2", "M1", "W11"}

// on runs a test of the catalogue on combinations, and says of each what came of it: the run next
// door has noticed nothing, afterwards it says hello, and the machine is what it was.
func on(t *testing.T, some []*combination, id, tries string, test func(*testing.T, *combination)) {
	t.Helper()
	if !wanted(id, t.Name()) {
		t.Skip("another row is asked for")
	}
	for _, c := range some {
		s := &sight{variant: variant{row: row{name: t.Name(), ids: []string{id}, title: tries}, combination: c}}
		if journal.settled(s.variant) {
			continue
		}
		t.Run(c.String(), func(t *testing.T) {
			defer s.add(t)
			c.start(t)
			c.warm(t, "bash")
			if slices.Contains(alone, id) {
				test(t, c)
				c.neighbour(t)()
			} else {
				c.begin = func() { c.going = c.neighbour(t) }
				c.begin()
				ended := func() { c.going(); c.going = nil }
				defer func() {
					if c.going != nil { // it has ended early
						ended()
					}
				}()
				test(t, c)
				ended()
			}
			c.client.Close() // connections that wait for a next request
			s.Hello = c.greetsSoon(t, "bash")
			c.check(t)
			s.variant.disturbed(t, s)
		})
	}
}
