package spawn

import (
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// socket is the host's end of a socket pair, through which descriptors pass.
type socket struct {
	pid  int // our child's, or 0 for an init that the spawner made
	conn *os.File
	raw  syscall.RawConn
}

func newServer(fd, pid int) *Server {
	s := &socket{pid: pid, conn: os.NewFile(uintptr(fd), "init")}
	s.raw, _ = s.conn.SyscallConn() // cannot fail: the file is open
	return serve(s)
}

func (s *socket) send(message []byte, files []int) error {
	var rights []byte
	if len(files) > 0 {
		rights = unix.UnixRights(files...)
	}
	var sent error
	err := s.raw.Write(func(fd uintptr) bool {
		for {
			sent = unix.Sendmsg(int(fd), message, rights, nil, unix.MSG_NOSIGNAL)
			if sent != unix.EINTR {
				return sent != unix.EAGAIN
			}
		}
	})
	if err == nil {
		err = sent
	}
	if errors.Is(err, unix.EPIPE) || errors.Is(err, unix.ECONNRESET) {
		return ErrGone
	}
	if err != nil {
		return fmt.Errorf("send to init: %w", err)
	}
	return nil
}

func (s *socket) hangUp() {
	_ = s.raw.Control(func(fd uintptr) { _ = unix.Shutdown(int(fd), unix.SHUT_RDWR) }) // closed is as good
}

func (s *socket) close() error {
	err := s.conn.Close()
	if s.pid != 0 {
		waitChild(s.pid)
	}
	return err
}

func waitChild(pid int) {
	for {
		if _, err := syscall.Wait4(pid, nil, 0, nil); err != syscall.EINTR {
			return
		}
	}
}

// read reads one record and the descriptors that came with it.
func (s *socket) read() (record, error) {
	buf := make([]byte, recordSize)
	oob := make([]byte, unix.CmsgSpace(4*maxFiles))
	var n, oobn, flags int
	var got error
	err := s.raw.Read(func(fd uintptr) bool {
		for tries := 0; ; tries++ {
			n, oobn, flags, _, got = unix.Recvmsg(int(fd), buf, oob, unix.MSG_CMSG_CLOEXEC)
			switch {
			case got == unix.EINTR:
			case (got == unix.ENOMEM || got == unix.ENOBUFS) && tries < scarceTries:
				<-time.After(scarcePause) // who gives up an init ends all that it holds
			default:
				return got != unix.EAGAIN
			}
		}
	})
	if err == nil {
		err = got
	}
	if err != nil {
		return record{}, err
	}
	var files []*os.File
	if oobn > 0 {
		files = receivedFiles(oob[:oobn])
	}
	r := decodeRecord(buf, files)
	if r.kind == recordFiles && flags&unix.MSG_CTRUNC != 0 {
		r.lost, flags = true, flags&^unix.MSG_CTRUNC // the kernel found no room for them
	}
	switch {
	case n != recordSize || flags&(unix.MSG_TRUNC|unix.MSG_CTRUNC) != 0:
		err = fmt.Errorf("a record of %d bytes and %d descriptors", n, len(files)) // 0: end of file
	case (r.kind < recordDone || r.kind > recordFiles) && r.kind != recordReady:
		err = fmt.Errorf("a record of the kind %d", r.kind)
	case len(files) > 0 && r.kind != recordFiles:
		err = fmt.Errorf("descriptors with a record of the kind %d", r.kind)
	}
	if err != nil {
		closeAll(files)
	}
	return r, err
}

// While the kernel is short of memory a record stays where it is.
const (
	scarceTries = 100
	scarcePause = 10 * time.Millisecond
)

func receivedFiles(oob []byte) (files []*os.File) {
	messages, err := unix.ParseSocketControlMessage(oob)
	if err != nil {
		return nil
	}
	for _, m := range messages {
		fds, err := unix.ParseUnixRights(&m)
		if err != nil {
			continue
		}
		for _, fd := range fds {
			files = append(files, os.NewFile(uintptr(fd), "received"))
		}
	}
	return files
}
