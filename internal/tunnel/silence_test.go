package tunnel

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/coder/websocket"
)

// piped are the two ends of a connection that holds nothing: what one side does not
// read, the other cannot write. It works where time is made up.
func piped(t *testing.T) (near, far *websocket.Conn) {
	t.Helper()
	client, server := net.Pipe()
	accepted := make(chan *websocket.Conn, 1)
	s := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		conn, err := websocket.Accept(w, r, nil)
		if err != nil {
			t.Error(err)
		}
		accepted <- conn
	})}
	go func() { _ = s.Serve(&once{conn: server}) }()
	dial := func(context.Context, string, string) (net.Conn, error) { return client, nil }
	near, _, err := websocket.Dial(t.Context(), "http://pipe/", &websocket.DialOptions{ //nolint:bodyclose // the library has it
		HTTPClient: &http.Client{Transport: &http.Transport{DialContext: dial}},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close(); near.CloseNow(); client.Close(); server.Close() })
	return near, <-accepted
}

// once is a listener that one connection comes to.
type once struct {
	mu   sync.Mutex
	conn net.Conn
}

func (o *once) Accept() (net.Conn, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	conn := o.conn
	if o.conn = nil; conn == nil {
		return nil, http.ErrServerClosed
	}
	return conn, nil
}

func (*once) Close() error   { return nil }
func (*once) Addr() net.Addr { return &net.UnixAddr{} }

// A side that shows life, and takes nothing, is hung up on: whoever sends would wait
// for ever, and with it whoever wants to end the container.
func TestNeverReading(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		near, conn := piped(t)
		far := Far(t.Context(), conn, func(c *Call) Answer {
			_, err := io.Copy(c.Writer(1), zeros{})
			return Failed(err)
		})
		_ = near.Write(t.Context(), websocket.MessageBinary, message(kindOpen, 0, 1, `{"op":"walk"}`))
		var alive sync.WaitGroup
		alive.Go(func() {
			for near.Write(t.Context(), websocket.MessageBinary, message(kindAlive, 0, 0, "")) == nil {
				time.Sleep(aliveEvery)
			}
		})
		<-far.Done()
		if err := far.Err(); !strings.Contains(err.Error(), "nothing was taken") {
			t.Error(err)
		}
		far.Close()
		alive.Wait() // time stands still when we have returned
	})
}

// One that is silent is hung up on as well, and one that is only slow is not.
func TestSilence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		near, conn := piped(t)
		go func() { // reads, and says nothing
			for {
				if _, _, err := near.Read(t.Context()); err != nil {
					return
				}
			}
		}()
		far := Far(t.Context(), conn, func(*Call) Answer { return Answer{} })
		<-far.Done()
		if err := far.Err(); !strings.Contains(err.Error(), "nothing was heard") {
			t.Error(err)
		}
		far.Close()
	})
	synctest.Test(t, func(t *testing.T) {
		a, b := piped(t)
		near, far := Near(t.Context(), a, nil), Far(t.Context(), b, func(*Call) Answer {
			time.Sleep(answerPatience - time.Second)
			return Answer{}
		})
		if _, err := near.Do(t.Context(), Request{Op: OpUsage}); err != nil {
			t.Error(err)
		}
		near.Close()
		far.Close()
	})
}

// A far side that says a little now and then does not hold up the near one for ever.
func TestTrickle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := piped(t)
		near, far := Near(t.Context(), a, nil), Far(t.Context(), b, func(c *Call) Answer {
			var err error
			for to := c.Writer(1); err == nil; time.Sleep(answerPatience / 4) {
				_, err = to.Write([]byte{'\n'})
			}
			return Failed(err)
		})
		call, err := near.Start(t.Context(), Request{Op: OpWalk})
		if err != nil {
			t.Fatal(err)
		}
		begin := time.Now()
		if _, err := io.Copy(io.Discard, call.Reader(1)); err == nil || time.Since(begin) != answerPatience {
			t.Errorf("after %v: %v", time.Since(begin), err)
		}
		near.Close()
		far.Close()
	})
}

// A far side that never ends what nobody waits for any more does not keep the place of it.
func TestCancelledForEver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := piped(t)
		over := make(chan struct{})
		near, far := Near(t.Context(), a, nil), Far(t.Context(), b, func(*Call) Answer {
			<-over
			return Answer{}
		})
		call, err := near.Start(t.Context(), Request{Op: OpOpen})
		if err != nil {
			t.Fatal(err)
		}
		call.Cancel()
		begin := time.Now()
		select {
		case <-near.Done():
		case <-time.After(2 * answerPatience):
		}
		if since := time.Since(begin); since != answerPatience {
			t.Errorf("after %v: %v", since, near.Err())
		}
		close(over)
		near.Close()
		far.Close()
	})
}

// Who takes no answers cannot have the far side keep as many as it likes.
func TestAnswersThatNobodyTakes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := piped(t)
		far := Far(t.Context(), b, func(*Call) Answer { return Answer{} })
		for i := range 4 * maxCalls {
			if a.Write(t.Context(), websocket.MessageBinary, message(kindOpen, 0, uint32(i+1), `{"op":"usage"}`)) != nil {
				break
			}
			synctest.Wait()
		}
		<-far.Done()
		if !strings.Contains(far.Err().Error(), "answers that nobody takes") {
			t.Error(far.Err())
		}
		far.Close()
	})
}

// One that is slow and goes on is waited for, and who reads slowly keeps nobody waiting.
func TestSlowAndSteady(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := piped(t)
		near, far := Near(t.Context(), a, nil), Far(t.Context(), b, func(c *Call) Answer {
			to := c.Writer(1)
			for range 8 {
				time.Sleep(answerPatience * 3 / 4)
				if _, err := to.Write(make([]byte, enough)); err != nil {
					return Failed(err)
				}
			}
			return Failed(to.Close())
		})
		call, err := near.Start(t.Context(), Request{Op: OpWalk})
		if err != nil {
			t.Fatal(err)
		}
		n, block := 0, make([]byte, enough)
		for err == nil {
			var k int
			k, err = call.Reader(1).Read(block)
			n += k
			time.Sleep(time.Second)
		}
		if n != 8*enough || !errors.Is(err, io.EOF) {
			t.Errorf("%d bytes, %v", n, err)
		}
		near.Close()
		far.Close()
	})
}
