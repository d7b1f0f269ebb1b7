package instance

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sys/unix"
)

// runtimeDir is a runtime directory as we would make it.
func runtimeDir(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "run")
	if err := PrepareDir(dir); err != nil {
		t.Fatal(err)
	}
	return dir
}

// reclaimed lists the processes whose leftovers are reclaimed in dir.
func reclaimed(t *testing.T, dir string) (pids []int) {
	t.Helper()
	if err := Dead(dir, "test", func(r Record) error { pids = append(pids, r.PID); return nil }); err != nil {
		t.Fatal(err)
	}
	return pids
}

// holdInstance names the directory in which the helper takes an instance.
const holdInstance = "SANDBOX_TEST_HOLD_INSTANCE"

// TestHelperHoldInstance is no test: another test runs it as a process of ours,
// which takes an instance, tells its name and waits to be killed.
func TestHelperHoldInstance(t *testing.T) {
	dir := os.Getenv(holdInstance)
	if dir == "" {
		t.Skip("run by TestDeadOwnerIsReclaimed")
	}
	i, err := New(dir, "test", nil)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Printf("holds %s %s\n", filepath.Base(i.path), i.Dir)
	_, _ = io.Copy(io.Discard, os.Stdin)
}

// startOwner starts a process that holds an instance.
func startOwner(t *testing.T, dir string) (owner *exec.Cmd, file, made string) {
	t.Helper()
	owner = exec.Command("/proc/self/exe", "-test.run=^TestHelperHoldInstance$")
	owner.Env = append(os.Environ(), holdInstance+"="+dir)
	if _, err := owner.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := owner.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := owner.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = owner.Process.Kill(); _ = owner.Wait() })
	line, err := bufio.NewReader(out).ReadString('\n')
	if _, scanErr := fmt.Sscanf(line, "holds %s %s", &file, &made); scanErr != nil {
		t.Fatalf("the helper said %q, %v", line, err)
	}
	return owner, file, made
}

func TestDeadOwnerIsReclaimed(t *testing.T) {
	dir := runtimeDir(t)
	owner, file, made := startOwner(t, dir)
	if pids := reclaimed(t, dir); len(pids) != 0 {
		t.Errorf("the living owner %v was reclaimed", pids)
	}
	if err := owner.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = owner.Wait()
	if err := Dead(dir, "another", func(Record) error { t.Error("reclaimed as another runtime's"); return nil }); err != nil {
		t.Error(err)
	}
	refuse := errors.New("still busy")
	if err := Dead(dir, "test", func(Record) error { return refuse }); !errors.Is(err, refuse) || !strings.Contains(err.Error(), fmt.Sprint(owner.Process.Pid)) {
		t.Errorf("error %v, want the refusal and whose it was", err)
	}
	var seen []Record
	if err := Dead(dir, "test", func(r Record) error { seen = append(seen, r); return nil }); err != nil {
		t.Fatal(err)
	}
	if len(seen) != 1 || seen[0].PID != owner.Process.Pid || seen[0].BootID != BootID() || !slices.Equal(seen[0].Dirs, []string{made}) || !strings.HasPrefix(seen[0].Name, file+"-") {
		t.Errorf("reclaimed %+v", seen)
	}
	if _, err := os.Lstat(filepath.Join(dir, file)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the number's file is left: %v", err)
	}
	if pids := reclaimed(t, dir); len(pids) != 0 {
		t.Errorf("%v was reclaimed twice", pids)
	}
}

func TestNumberIsTakenOnce(t *testing.T) {
	dir := runtimeDir(t)
	first, err := takeNumber(dir, "test", 7, nil)
	if err != nil || first == nil {
		t.Fatal(first, err)
	}
	if again, err := takeNumber(dir, "test", 7, nil); again != nil || err != nil {
		t.Errorf("taken twice: %v, %v", again, err)
	}
	other, err := takeNumber(dir, "test", 8, nil)
	if err != nil || other == nil || other.Name == first.Name || other.Dir == first.Dir {
		t.Fatal(other, err)
	}
	defer other.Release(false)
	if err := os.MkdirAll(filepath.Join(first.Dir, "c1"), 0o711); err != nil {
		t.Fatal(err)
	}
	first.Release(false)
	if _, err := os.Lstat(first.Dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the directory of a released instance is left: %v", err)
	}
	again, err := takeNumber(dir, "test", 7, nil)
	if err != nil || again == nil || again.Name == first.Name {
		t.Fatalf("a released number: %v, %v", again, err)
	}
	again.Release(false)
	if pids := reclaimed(t, dir); len(pids) != 0 {
		t.Errorf("%v was reclaimed", pids)
	}
}

// Somebody who opened a number's file before its owner let go must not take the
// file of the next owner for it.
func TestReclaimLeavesTheNextOwnerAlone(t *testing.T) {
	dir := runtimeDir(t)
	old, err := takeNumber(dir, "test", 7, nil)
	if err != nil {
		t.Fatal(err)
	}
	late, err := os.OpenFile(old.path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	old.Release(false)
	next, err := takeNumber(dir, "test", 7, nil)
	if err != nil || next == nil {
		t.Fatal(next, err)
	}
	defer next.Release(false)
	if err := reclaimFile(late, old.path, "test", func(Record) error { t.Error("nobody is dead"); return nil }); err != nil {
		t.Error(err)
	}
	if again, _ := takeNumber(dir, "test", 7, nil); again != nil {
		t.Error("the next owner's number could be taken again")
	}
}

// TestNumbersUnderContention: whatever takers, releasers and reclaimers do at
// the same time, a number has one owner.
func TestNumbersUnderContention(t *testing.T) {
	dir := runtimeDir(t)
	var owners [2]sync.Mutex
	var group sync.WaitGroup
	for range 6 {
		group.Go(func() {
			for n := range 200 {
				number := n % len(owners)
				if i, err := takeNumber(dir, "test", number, nil); err != nil {
					t.Error(err)
				} else if i != nil {
					if !owners[number].TryLock() {
						t.Errorf("number %d has two owners", number)
						return
					}
					owners[number].Unlock()
					i.Release(false)
				}
				if err := Dead(dir, "test", func(r Record) error {
					if r.PID != 0 {
						t.Errorf("process %d lives", r.PID)
					}
					return nil
				}); err != nil && !errors.Is(err, os.ErrNotExist) {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
}

func TestDamagedFilesAreReclaimed(t *testing.T) {
	dir := runtimeDir(t)
	for name, content := range map[string]string{
		"i0001": "", "i0002": "{", "i0003": "\xff\xff", "i00ff": `{"pid": "x"}`, // an owner that died before it wrote
		"i1": "not ours", "ifffff": "not ours", "I0001": "not ours", "i-001": "not ours", "other": "not ours",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("/etc/passwd", filepath.Join(dir, "i0004")); err != nil {
		t.Fatal(err)
	}
	var seen []Record
	if err := Dead(dir, "test", func(r Record) error { seen = append(seen, r); return nil }); err != nil {
		t.Fatal(err)
	}
	for _, r := range seen {
		if text, _ := json.Marshal(r); r.PID != 0 || len(r.Dirs) != 0 || r.Name != "" {
			t.Errorf("a damaged file says %s", text)
		}
	}
	left, err := os.ReadDir(dir)
	if len(seen) != 4 || len(left) != 6 || err != nil {
		t.Errorf("%d reclaimed, left %v, %v", len(seen), left, err)
	}
}

func TestNoRuntimeDirHasNoDead(t *testing.T) {
	if pids := reclaimed(t, filepath.Join(t.TempDir(), "none")); len(pids) != 0 {
		t.Errorf("reclaimed %v", pids)
	}
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := Dead(file, "test", nil); err == nil || !strings.Contains(err.Error(), "read the runtime directory") {
		t.Errorf("error %v", err)
	}
}

func TestPlantedRuntimeDirIsRefused(t *testing.T) {
	for name, plant := range map[string]func(dir string) error{
		"symbolic link": func(dir string) error {
			target := dir + "-target"
			return errors.Join(os.Mkdir(target, 0o700), os.Symlink(target, dir))
		},
		"writable by the group": func(dir string) error { return errors.Join(os.Mkdir(dir, 0o700), os.Chmod(dir, 0o720)) },
		"writable by all":       func(dir string) error { return errors.Join(os.Mkdir(dir, 0o700), os.Chmod(dir, 0o1777)) },
		"a file":                func(dir string) error { return os.WriteFile(dir, nil, 0o600) },
		"of another user": func(dir string) error {
			if os.Geteuid() != 0 {
				return errors.ErrUnsupported
			}
			return errors.Join(os.Mkdir(dir, 0o700), os.Chown(dir, 12345, 12345))
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "run")
			if err := plant(dir); errors.Is(err, errors.ErrUnsupported) {
				t.Skip("needs root: a directory is given to another user")
			} else if err != nil {
				t.Fatal(err)
			}
			if i, err := New(dir, "test", nil); err == nil {
				i.Release(false)
				t.Error("a planted directory was used")
			}
		})
	}
}

func TestRuntimeDirThatIsOurs(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "b")
	for range 2 { // made, then found
		i, err := New(dir, "test", nil)
		if err != nil {
			t.Fatal(err)
		}
		var st unix.Stat_t
		if err := unix.Stat(i.path, &st); err != nil || st.Mode&0o777 != 0o600 {
			t.Errorf("the number's file: mode %#o, %v", st.Mode, err)
		}
		i.Release(false)
	}
}

func TestDefaultRuntimeDir(t *testing.T) {
	t.Setenv("XDG_RUNTIME_DIR", "/xdg")
	want := "/xdg/sandbox-run"
	if os.Geteuid() == 0 {
		want = "/run/sandbox-run" // whatever the environment says
	}
	if got := DefaultDir(); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// A tenant's control group is found by the instance's name, and does not tell whose
// it is.
func TestTenantName(t *testing.T) {
	dir := runtimeDir(t)
	a, err := New(dir, "test", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Release(false)
	acme, lab := a.TenantName("acme"), a.TenantName("lab")
	if !strings.HasPrefix(acme, a.Name+"-") || strings.Contains(acme, "acme") || acme == lab || acme != a.TenantName("acme") {
		t.Errorf("acme is %s, lab is %s, of %s", acme, lab, a.Name)
	}
	if name := a.TenantName(""); name != "" {
		t.Errorf("no tenant is %s", name)
	}
}
