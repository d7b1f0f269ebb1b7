package cli

import (
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

func isTerminal(f *os.File) bool {
	_, err := unix.IoctlGetTermios(int(f.Fd()), unix.TCGETS)
	return err == nil
}

// terminalSize is the size of a terminal, or that of a VT100 where f is none
// or does not know.
func terminalSize(f *os.File) sandbox.TTY {
	size, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ)
	if err != nil || size.Row == 0 || size.Col == 0 {
		return sandbox.TTY{Rows: 24, Cols: 80}
	}
	return sandbox.TTY{Rows: size.Row, Cols: size.Col}
}

// makeRaw hands every key to the program and every byte of it to the terminal
// (the settings of cfmakeraw(3)), and returns what undoes it. It does nothing
// where f is no terminal.
func makeRaw(f *os.File) (restore func(), err error) {
	fd := int(f.Fd())
	before, err := unix.IoctlGetTermios(fd, unix.TCGETS)
	if err != nil {
		return func() {}, nil
	}
	raw := *before
	raw.Iflag &^= unix.IGNBRK | unix.BRKINT | unix.PARMRK | unix.ISTRIP | unix.INLCR | unix.IGNCR | unix.ICRNL | unix.IXON
	raw.Oflag &^= unix.OPOST
	raw.Lflag &^= unix.ECHO | unix.ECHONL | unix.ICANON | unix.ISIG | unix.IEXTEN
	raw.Cflag = raw.Cflag&^(unix.CSIZE|unix.PARENB) | unix.CS8
	raw.Cc[unix.VMIN], raw.Cc[unix.VTIME] = 1, 0
	if err := unix.IoctlSetTermios(fd, unix.TCSETS, &raw); err != nil {
		return func() {}, err
	}
	return func() { _ = unix.IoctlSetTermios(fd, unix.TCSETS, before) }, nil
}

// watchResize tells each new size of the terminal until stop is called. Only
// the latest size waits for its reader.
func watchResize(f *os.File) (sizes <-chan sandbox.TTY, stop func()) {
	changed, done := make(chan os.Signal, 1), make(chan struct{})
	latest := make(chan sandbox.TTY, 1)
	signal.Notify(changed, syscall.SIGWINCH)
	go func() {
		for {
			select {
			case <-changed:
				select {
				case <-latest:
				default:
				}
				latest <- terminalSize(f)
			case <-done:
				return
			}
		}
	}()
	return latest, func() { signal.Stop(changed); close(done) }
}
