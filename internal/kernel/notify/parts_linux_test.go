package notify

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"sync"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// parts are what helpers do, under the filter.
var parts = map[string]func(args []int){
	"ask":        func(args []int) { tell(ask(uintptr(args[0]), uintptr(args[1]), uintptr(args[2]))) },
	"quit":       func([]int) {},
	"replace":    replaceDescriptor,
	"memory":     showMemory,
	"strings":    showStrings,
	"files":      showFiles,
	"descriptor": showDescriptors,
	"crowd":      crowd,
	"storm":      storm,
	"offspring":  offspring,
	"threads":    func(args []int) { askInThread(); runtime.KeepAlive(args) },
}

// askInThread asks in a thread that is not the first.
func askInThread() {
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread()
		tell(unix.Gettid() != unix.Getpid())
		tell(ask(uintptr(unix.Gettid())))
	}()
	runtime.LockOSThread() // so that the other one has to take another
	<-done
}

// replaceDescriptor asks with a descriptor of its own, and writes to it
// afterwards, or to the one that the answer names.
func replaceDescriptor(args []int) {
	f, err := os.Open(os.DevNull)
	if err != nil {
		fail(err)
	}
	r, errno := ask(f.Fd())
	if errno != 0 {
		fail(errno)
	}
	at := int(f.Fd())
	if args[0] != 0 {
		at = int(r)
	}
	flags, err := unix.FcntlInt(uintptr(at), unix.F_GETFD, 0)
	tell(at == int(f.Fd()), flags&unix.FD_CLOEXEC != 0, err)
	if _, err := unix.Write(at, []byte("hello\n")); err != nil {
		fail(err)
	}
}

// showMemory asks with addresses: of a page with text, of its last byte, which
// nothing follows, and of nothing.
func showMemory([]int) {
	page := os.Getpagesize()
	mem, err := unix.Mmap(-1, 0, 2*page, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS)
	if err != nil {
		fail(err)
	}
	start := uintptr(unsafe.Pointer(&mem[0]))
	copy(mem, "what the program says")
	mem[page-1] = 'x'
	if _, _, errno := unix.Syscall(unix.SYS_MUNMAP, start+uintptr(page), uintptr(page), 0); errno != 0 {
		fail(errno)
	}
	for _, address := range []uintptr{start, start + uintptr(page) - 1, 8, ^uintptr(0), 1<<63 - 1} {
		ask(0, address)
	}
}

// showStrings asks with addresses of strings: two on one page, one that goes on
// to the next, and one at the end of memory without its zero.
func showStrings([]int) {
	page := os.Getpagesize()
	mem, err := unix.Mmap(-1, 0, 3*page, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANONYMOUS)
	if err != nil {
		fail(err)
	}
	start := uintptr(unsafe.Pointer(&mem[0]))
	copy(mem, "one\x00two")
	copy(mem[page-3:], "across")
	copy(mem[2*page-3:], "cut")
	if _, _, errno := unix.Syscall(unix.SYS_MUNMAP, start+2*uintptr(page), uintptr(page), 0); errno != 0 {
		fail(errno)
	}
	for _, at := range []int{0, 3, 4, page - 3, 2*page - 3} {
		ask(0, start+uintptr(at))
	}
}

// showFiles asks with descriptors of the root directory, of the working directory
// and of nothing.
func showFiles([]int) {
	root, err := unix.Open("/", unix.O_RDONLY, 0)
	if err == nil {
		err = unix.Chdir("/proc")
	}
	if err != nil {
		fail(err)
	}
	for _, fd := range []int{root, unix.AT_FDCWD, 999, -1} {
		ask(uintptr(fd))
	}
}

// showDescriptors asks with the number of a descriptor and the inode that it
// has, or 0 for what is no socket.
func showDescriptors([]int) {
	plain, err := unix.Open(os.DevNull, unix.O_WRONLY|unix.O_APPEND|unix.O_CLOEXEC, 0)
	if err != nil {
		fail(err)
	}
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		fail(err)
	}
	other, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM, 0)
	if err != nil {
		fail(err)
	}
	ask(uintptr(plain))
	for _, fd := range []int{pair[0], pair[1], other} {
		var st unix.Stat_t
		if err := unix.Fstat(fd, &st); err != nil {
			fail(err)
		}
		ask(uintptr(fd), uintptr(st.Ino))
	}
	for _, none := range []int{999, -1} {
		ask(uintptr(none))
	}
}

// crowd asks from many threads at once, each its own questions.
func crowd(args []int) {
	threads, each := args[0], args[1]
	var all sync.WaitGroup
	for i := range threads {
		all.Go(func() {
			runtime.LockOSThread()
			for j := range each {
				question := uintptr(i*each + j + 1)
				if r, errno := ask(question); r != 2*question || errno != 0 {
					fail(fmt.Errorf("asked %d, got %d, %w", question, r, errno))
				}
			}
		})
	}
	all.Wait()
	tell("done")
}

// storm asks while signals rain on its thread, so many microseconds apart. With 1
// as its first argument, calls that they interrupt are not made again by the
// kernel.
func storm(args []int) {
	rain := []syscall.Signal{unix.SIGURG, unix.SIGALRM}
	signal.Notify(make(chan os.Signal, 1), unix.SIGALRM)
	if args[0] == 1 {
		for _, s := range rain {
			interrupts(s)
		}
	}
	runtime.LockOSThread()
	thread, stop := unix.Gettid(), make(chan struct{})
	var storms sync.WaitGroup
	for _, s := range rain {
		storms.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
					_ = unix.Tgkill(unix.Getpid(), thread, s)
					time.Sleep(time.Duration(args[2]) * time.Microsecond)
				}
			}
		})
	}
	interrupted := 0
	for i := 1; i <= args[1]; i++ {
		r, errno := ask(uintptr(i))
		for ; errno == unix.EINTR; r, errno = ask(uintptr(i)) {
			interrupted++
		}
		if r != uintptr(2*i) || errno != 0 {
			fail(fmt.Errorf("asked %d, got %d, %w", i, r, errno))
		}
	}
	close(stop)
	storms.Wait()
	if args[0] == 0 && interrupted > 0 {
		fail(fmt.Errorf("%d calls were interrupted that the kernel makes again", interrupted))
	}
	tell("done")
}

// interrupts has a signal's handler no longer let calls go on.
func interrupts(s syscall.Signal) {
	const restart = 0x10000000 // SA_RESTART
	var action struct {
		handler, flags, restorer uintptr
		mask                     uint64
	}
	pointer := uintptr(unsafe.Pointer(&action))
	if _, _, errno := unix.RawSyscall6(unix.SYS_RT_SIGACTION, uintptr(s), 0, pointer, 8, 0, 0); errno != 0 {
		fail(errno)
	}
	action.flags &^= restart
	if _, _, errno := unix.RawSyscall6(unix.SYS_RT_SIGACTION, uintptr(s), pointer, 0, 8, 0, 0); errno != 0 {
		fail(errno)
	}
}

// offspring starts a child that asks, tells its pid, and asks itself once there
// is something to read.
func offspring([]int) {
	cmd := exec.Command("/proc/self/exe")
	cmd.Env = append(os.Environ(), partEnv+"=filtered:ask 1")
	cmd.Stdout = new(bytes.Buffer)
	if err := cmd.Start(); err != nil {
		fail(err)
	}
	tell(cmd.Process.Pid)
	_, _ = bufio.NewReader(os.Stdin).ReadString('\n')
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	tell("gone")
	tell(ask(2))
}
