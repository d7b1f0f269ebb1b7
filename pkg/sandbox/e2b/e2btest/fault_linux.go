package e2btest

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"time"
)

// On limits a fault to requests of a method and a path, and to so many of them;
// zero is all.
func On(method, path string, times int, f Fault) Fault {
	var n atomic.Int64
	return func(w http.ResponseWriter, r *http.Request, next http.Handler) bool {
		if r.Method != method || !strings.Contains(r.URL.Path, path) || times > 0 && n.Add(1) > int64(times) {
			return false
		}
		return f(w, r, next)
	}
}

// Saying limits a fault to requests whose body has a text in a string of its JSON.
func Saying(text string, f Fault) Fault {
	quoted, err := json.Marshal(text)
	if err != nil {
		panic(err) // which no string is the reason of
	}
	return func(w http.ResponseWriter, r *http.Request, next http.Handler) bool {
		body, err := io.ReadAll(io.LimitReader(r.Body, maxRequestBytes))
		r.Body = io.NopCloser(bytes.NewReader(body))
		return err == nil && bytes.Contains(body, quoted[1:len(quoted)-1]) && f(w, r, next)
	}
}

// Times limits a fault to so many requests of those that it would answer.
func Times(times int, f Fault) Fault {
	var n atomic.Int64
	return func(w http.ResponseWriter, r *http.Request, next http.Handler) bool {
		return n.Add(1) <= int64(times) && f(w, r, next)
	}
}

// Status answers with a status, headers in pairs, and a body.
func Status(code int, body string, headers ...string) Fault {
	return func(w http.ResponseWriter, _ *http.Request, _ http.Handler) bool {
		for i := 0; i+1 < len(headers); i += 2 {
			w.Header().Set(headers[i], headers[i+1])
		}
		w.WriteHeader(code)
		_, _ = w.Write([]byte(body))
		return true
	}
}

// Slow waits before it goes on, but not longer than the client does.
func Slow(d time.Duration) Fault {
	return func(_ http.ResponseWriter, r *http.Request, _ http.Handler) bool {
		select {
		case <-time.After(d):
		case <-r.Context().Done():
		}
		return false
	}
}

// Cut breaks the answer off behind so many bytes.
func Cut(bytes int) Fault {
	return func(w http.ResponseWriter, r *http.Request, next http.Handler) bool {
		next.ServeHTTP(&cutter{ResponseWriter: w, left: bytes}, r)
		return true
	}
}

type cutter struct {
	http.ResponseWriter
	left int
}

func (c *cutter) Write(b []byte) (int, error) {
	if len(b) < c.left {
		c.left -= len(b)
		return c.ResponseWriter.Write(b)
	}
	_, _ = c.ResponseWriter.Write(b[:c.left])
	c.Flush()
	panic(http.ErrAbortHandler)
}

func (c *cutter) Flush() {
	if f, ok := c.ResponseWriter.(http.Flusher); ok {
		f.Flush()
	}
}
