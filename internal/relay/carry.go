package relay

import (
	"errors"
	"io"
	"net"
	"os"
	"sync/atomic"
	"time"
)

// maxBuffer bounds what the kernel keeps for one direction of a connection
// outside: without, it grows to megabytes, in memory that no container is
// charged for, when the program does not read.
const maxBuffer = 256 << 10

func boundBuffers(conn net.Conn) {
	if c, ok := conn.(*net.TCPConn); ok {
		_ = c.SetReadBuffer(maxBuffer)
		_ = c.SetWriteBuffer(maxBuffer)
	}
}

// carry copies both ways until both sides have ended. When one direction breaks,
// the other has no use: both connections are reset, so that half a download
// does not look like a whole one.
//
// whole is called when all has been sent that the program has.
func (r *Relay) carry(program, upstream net.Conn, whole func()) error {
	var moved atomic.Int64
	sent := make(chan error, 1)
	r.running.Go(func() {
		err := r.copy(upstream, program, &r.sent, &moved)
		if err == nil {
			whole()
		}
		sent <- err
	})
	err := r.copy(program, upstream, &r.received, &moved)
	return errors.Join(err, <-sent)
}

// looks is how often a connection is looked at before it counts as idle.
const looks = 3

// copy carries one direction. It leaves the bytes in the kernel where that is
// possible (splice on Linux), so it hears of them only when the source ends, or
// when its deadline does. Then it looks at what both directions have moved, of
// which the other one may still be about to tell.
func (r *Relay) copy(to, from net.Conn, count, moved *atomic.Int64) error {
	seen, still := int64(0), 0
	for {
		_ = from.SetReadDeadline(time.Now().Add(r.config.IdleTimeout / looks))
		n, err := io.Copy(to, from)
		count.Add(n)
		if now := moved.Add(n); now != seen {
			seen, still = now, 0
		} else {
			still++
		}
		switch {
		case err == nil:
			return closeWrite(to)
		case !errors.Is(err, os.ErrDeadlineExceeded) || still == looks:
			reset(to)
			reset(from)
			return err
		}
	}
}

// closeWrite passes on that one side has nothing more to say.
func closeWrite(conn net.Conn) error {
	if c, ok := conn.(interface{ CloseWrite() error }); ok {
		_ = c.CloseWrite() // the other side may be gone already, which the other direction finds
		return nil
	}
	return conn.Close()
}
