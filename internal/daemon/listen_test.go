package daemon

import (
	"net"
	"net/http"
	"os"
	"syscall"
	"testing"
	"time"
)

// failing is a listener whose first connections cannot be accepted.
type failing struct {
	net.Listener
	errs []error
}

func (l *failing) Accept() (net.Conn, error) {
	if len(l.errs) == 0 {
		return l.Listener.Accept()
	}
	err := l.errs[0]
	l.errs = l.errs[1:]
	return nil, &net.OpError{Op: "accept", Net: "tcp", Err: os.NewSyscallError("accept4", err)}
}

func TestServerOutlivesAccept(t *testing.T) {
	for _, errno := range []syscall.Errno{syscall.ENOMEM, syscall.ENOBUFS, syscall.ENOSPC, syscall.EMFILE, syscall.EPERM} {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		s := &http.Server{Handler: http.NotFoundHandler()}
		ended := make(chan error, 1)
		go func() { ended <- s.Serve(patient{&failing{l, []error{errno, errno}}}) }()
		resp, err := http.Get("http://" + l.Addr().String())
		if err != nil {
			t.Fatalf("after %v: %v", errno, err)
		}
		resp.Body.Close()
		s.Close()
		if err := <-ended; err != http.ErrServerClosed {
			t.Errorf("after %v the server ended: %v", errno, err)
		}
	}
	l := patient{&failing{nil, []error{net.ErrClosed}}}
	if _, err := l.Accept(); err == nil || isTemporary(err) {
		t.Errorf("a closed listener: %v", err)
	}
}

// TestConnectionsAreBounded: one more than the most waits until another is closed.
func TestConnectionsAreBounded(t *testing.T) {
	tcp, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	const most = 3
	l := listener(tcp, most)
	defer l.Close()
	accepted := make(chan net.Conn)
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				close(accepted)
				return
			}
			accepted <- conn
		}
	}()
	var open []net.Conn
	for range most + 1 {
		conn, err := net.Dial("tcp", tcp.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { conn.Close() })
		if len(open) < most {
			open = append(open, <-accepted)
		}
	}
	select {
	case <-accepted:
		t.Fatalf("%d connections were accepted, and %d are the most", most+1, most)
	case <-time.After(100 * time.Millisecond):
	}
	if err := open[0].Close(); err != nil {
		t.Fatal(err)
	}
	(<-accepted).Close()
}

func isTemporary(err error) bool {
	_, ok := err.(temporary)
	return ok
}
