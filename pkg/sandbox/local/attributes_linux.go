package local

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/sandbox-run/sandbox-run/internal/fault"
	"github.com/sandbox-run/sandbox-run/internal/kernel/notify"
	"github.com/sandbox-run/sandbox-run/internal/kernel/seccomp"
)

// Landlock does not watch who changes the modes and times of files. Without a
// root and without a user id of its own a program could do that to everything
// that its user owns: close the server's files to the server, or open them to
// others. Those calls come to the supervisor, which makes them itself, on files
// of the container. A program with a user id of its own owns no others, but the times
// of every file that it may write to are its to set: those calls come here, too.

// whoChangesAttributes says who decides about them.
func (c *container) whoChangesAttributes() seccomp.Attributes {
	switch {
	case !c.walls.seccomp || c.walls.namespaces:
		return seccomp.AttributesFree
	case supervisable() != nil && c.identity.root:
		return seccomp.AttributesFree // times of files outside are less than modes of its own
	case supervisable() != nil:
		return seccomp.AttributesRefused
	case c.identity.root:
		return seccomp.TimesSupervised
	}
	return seccomp.AttributesSupervised
}

// supervisesFiles tells whether calls that change files come to the supervisor.
func (c *container) supervisesFiles() bool {
	return c.attributes == seccomp.AttributesSupervised || c.attributes == seccomp.TimesSupervised
}

// ownFiles are the files of a container whose directories are the host's.
type ownFiles struct {
	dir  *os.File
	path string // of dir, as the kernel says it
}

func openOwnFiles(dir string) (*ownFiles, error) {
	d, err := os.OpenFile(dir, unix.O_PATH|unix.O_DIRECTORY|unix.O_NOFOLLOW, 0)
	if err != nil {
		return nil, err
	}
	path, err := os.Readlink(selfPath(d))
	if err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return &ownFiles{dir: d, path: path}, nil
}

// selfPath is a path that leads to what a descriptor of ours is.
func selfPath(f *os.File) string { return fmt.Sprintf("/proc/self/fd/%d", f.Fd()) }

// have tells whether a file is the container's: that its path is below the
// directory is the kernel's word, and that it is still there is looked up from the
// directory's descriptor. A name that was taken from a file there is below it, too.
func (o *ownFiles) have(f *os.File) (bool, error) {
	if fault.Off("attributes", "of others") {
		return true, nil
	}
	var st unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &st); err != nil {
		return false, err
	}
	for range 3 { // the program may be renaming
		path, err := os.Readlink(selfPath(f))
		if err != nil {
			return false, unix.ENAMETOOLONG
		}
		name, below := strings.CutPrefix(path, o.path+"/")
		if !below {
			return false, nil
		}
		if _, gone := strings.CutSuffix(name, " (deleted)"); gone {
			return true, nil
		}
		if o.is(name, &st) {
			return true, nil
		}
	}
	return false, nil
}

// is looks a name up, below the directory and through no link.
func (o *ownFiles) is(name string, st *unix.Stat_t) bool {
	fd, err := unix.Openat2(int(o.dir.Fd()), name, &unix.OpenHow{
		Flags:   unix.O_PATH | unix.O_NOFOLLOW | unix.O_CLOEXEC,
		Resolve: unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS,
	})
	if err != nil {
		return false
	}
	defer unix.Close(fd)
	var there unix.Stat_t
	return unix.Fstat(fd, &there) == nil && there.Dev == st.Dev && there.Ino == st.Ino
}

// attributeCall says which arguments of a call name a file, and what it changes.
type attributeCall struct {
	dir, path, flags int // none for an argument that it does not have
	nofollow         bool
	change           func(*supervisor, notify.Call) (change, error)
}

const none = -1

// change changes a file that was found.
type change func(f *os.File) error

// attributeCalls are those of every architecture. An older one has more:
// olderAttributeCalls.
var attributeCalls = map[int]attributeCall{
	unix.SYS_FCHMOD:    {dir: 0, path: none, flags: none, change: changeMode(1)},
	unix.SYS_FCHMODAT:  {dir: 0, path: 1, flags: none, change: changeMode(2)},
	unix.SYS_FCHMODAT2: {dir: 0, path: 1, flags: 3, change: changeMode(2)},
	unix.SYS_FCHOWN:    {dir: 0, path: none, flags: none, change: changeOwner(1)},
	unix.SYS_FCHOWNAT:  {dir: 0, path: 1, flags: 4, change: changeOwner(2)},
	unix.SYS_UTIMENSAT: {dir: 0, path: 1, flags: 3, change: changeTimes(2, timespec)},
}

func attributeCallOf(number int) (how attributeCall, is bool) {
	if how, is = attributeCalls[number]; !is {
		how, is = olderAttributeCalls[number]
	}
	return how, is
}

// attribute makes a call that changes a file's attributes, where the file is the
// container's.
func (s *supervisor) attribute(call notify.Call, how attributeCall) error {
	change, err := how.change(s, call)
	if err != nil {
		return err
	}
	f, err := s.named(call, how)
	if err != nil {
		return err
	}
	defer f.Close()
	switch ours, err := s.files.have(f); {
	case err != nil:
		return err
	case !ours:
		path, _ := os.Readlink(selfPath(f))
		s.refuse(path)
		return unix.EPERM
	}
	return change(f)
}

// named opens what a call names, but not to be read or written.
func (s *supervisor) named(call notify.Call, how attributeCall) (*os.File, error) {
	flags := 0
	if how.flags != none {
		flags = int(int32(call.Args[how.flags]))
	}
	if flags&^(unix.AT_SYMLINK_NOFOLLOW|unix.AT_EMPTY_PATH) != 0 {
		return nil, unix.EINVAL
	}
	name := ""
	// Without a path utimensat(2) is for the descriptor.
	itself := how.path == none || call.Number == unix.SYS_UTIMENSAT && call.Args[how.path] == 0
	if !itself {
		var err error
		if name, err = s.listener.ReadString(call, call.Args[how.path], unix.PathMax); err != nil {
			return nil, err
		}
		if itself = name == "" && flags&unix.AT_EMPTY_PATH != 0; name == "" && !itself {
			return nil, unix.ENOENT
		}
	}
	fd := unix.AT_FDCWD
	if how.dir != none {
		fd = int(int32(call.Args[how.dir]))
	}
	if itself && fd == unix.AT_FDCWD && name == "" && flags&unix.AT_EMPTY_PATH == 0 {
		return nil, unix.EBADF
	}
	if number, is := descriptorPath(name); is {
		return s.listener.Open(call, number)
	}
	var dir *os.File
	if !path.IsAbs(name) {
		var err error
		if dir, err = s.listener.Open(call, fd); err != nil || itself {
			return dir, err
		}
		defer dir.Close()
	}
	return lookup(dir, name, how.nofollow || flags&unix.AT_SYMLINK_NOFOLLOW != 0)
}

// descriptorPath reads a name that is a descriptor of the caller's. glibc before its
// version 2.39 changes the mode of what may be a link in this way.
func descriptorPath(name string) (fd int, is bool) {
	dir, number := path.Split(name)
	if dir != "/proc/self/fd/" && dir != "/proc/thread-self/fd/" && dir != "/dev/fd/" {
		return 0, false
	}
	n, err := strconv.ParseUint(number, 10, 31)
	return int(n), err == nil
}

// lookup finds a name as the program would, whose root is ours. What it finds is
// looked at before it is touched; but links of /proc that lead to what a process
// has would lead to what we have.
func lookup(dir *os.File, name string, nofollow bool) (*os.File, error) {
	at := unix.AT_FDCWD
	if dir != nil {
		at = int(dir.Fd())
	}
	how := unix.OpenHow{Flags: unix.O_PATH | unix.O_CLOEXEC, Resolve: unix.RESOLVE_NO_MAGICLINKS}
	if nofollow {
		how.Flags |= unix.O_NOFOLLOW
	}
	fd, err := unix.Openat2(at, name, &how)
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), name), nil
}

func changeMode(argument int) func(*supervisor, notify.Call) (change, error) {
	return func(_ *supervisor, call notify.Call) (change, error) {
		mode := uint32(call.Args[argument]) & 0o7777
		return func(f *os.File) error { return unix.Fchmodat(unix.AT_FDCWD, selfPath(f), mode, 0) }, nil
	}
}

// changeOwner changes nothing: a user may give his files to nobody but himself.
func changeOwner(argument int) func(*supervisor, notify.Call) (change, error) {
	return func(_ *supervisor, call notify.Call) (change, error) {
		keeps := func(id uint64, own int) bool { return int32(id) == -1 || uint32(id) == uint32(own) }
		if !keeps(call.Args[argument], os.Geteuid()) || !keeps(call.Args[argument+1], os.Getegid()) {
			return nil, unix.EPERM
		}
		return func(*os.File) error { return nil }, nil
	}
}

// timeFormat is how a call has a time: in how many numbers of 64 bits, and how many
// nanoseconds one of the second is.
type timeFormat struct {
	numbers int
	unit    int64
}

var timespec = timeFormat{numbers: 2, unit: 1}

// changeTimes is for a call with a pointer to two times, or none for the present.
func changeTimes(argument int, format timeFormat) func(*supervisor, notify.Call) (change, error) {
	return func(s *supervisor, call notify.Call) (change, error) {
		times := []unix.Timespec{{Nsec: unix.UTIME_NOW}, {Nsec: unix.UTIME_NOW}}
		if address := call.Args[argument]; address != 0 {
			b := make([]byte, 2*8*format.numbers)
			if err := s.listener.Read(call, address, b); err != nil {
				return nil, err
			}
			number := func(i int) int64 { return int64(binary.NativeEndian.Uint64(b[8*i:])) }
			for i := range times {
				times[i] = unix.Timespec{Sec: number(i * format.numbers)}
				if format.numbers == 2 {
					times[i].Nsec = number(2*i+1) * format.unit
				}
			}
		}
		return func(f *os.File) error { return unix.UtimesNanoAt(unix.AT_FDCWD, selfPath(f), times, 0) }, nil
	}
}

// pace keeps a program from having us work in its place, which no limit of its own
// counts: long paths and chains of links take long to follow.
type pace struct {
	left time.Duration // of our time that it may take at once
	at   time.Time
}

const (
	paceAtOnce = 250 * time.Millisecond // some 20,000 ordinary calls
	paceShare  = 5                      // afterwards, a fifth of the time
)

// rest ends a call that began at a time, and takes the rest that is due unless told
// to quit.
func (p *pace) rest(began time.Time, quit <-chan struct{}) {
	now := time.Now()
	if p.at.IsZero() {
		p.left, p.at = paceAtOnce, began
	}
	p.left = min(p.left+began.Sub(p.at)/paceShare, paceAtOnce) - now.Sub(began)
	p.at = now
	if p.left < 0 {
		select {
		case <-time.After(-p.left * paceShare):
		case <-quit:
		}
	}
}

const mostRefused = 20

// refuse remembers which file was not changed, and not more of them than somebody
// reads.
func (s *supervisor) refuse(path string) {
	line := fmt.Sprintf("changing the mode, owner or times of %.200q refused: the file is the host's", path)
	if len(s.refused) < mostRefused && !slices.Contains(s.refused, line) {
		s.refused = append(s.refused, line)
	}
}
