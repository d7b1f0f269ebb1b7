package client_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/sandbox-run/sandbox-run/pkg/api"
	"github.com/sandbox-run/sandbox-run/pkg/client"
)

const (
	began = `{"seq":1,"t":0,"type":"start","language":"python"}` + "\n"
	ended = `{"seq":3,"t":1,"type":"result","result":{"status":"ok","stdout":"é"}}` + "\n"
)

func TestStream(t *testing.T) {
	c := answering(t, 200, "application/x-ndjson", began+`{"seq":2,"type":"something_new","data":"x"}`+"\n"+ended)
	var types []api.EventType
	r, err := c.Stream(t.Context(), api.Request{Code: "1"}, func(e api.Event) error {
		types = append(types, e.Type)
		return nil
	})
	if err != nil || r.Stdout != "é" || fmt.Sprint(types) != "[start something_new result]" {
		t.Errorf("%+v %v %v", r, err, types)
	}
}

// A stream that ends without its result says why, if anybody knows.
func TestBrokenStreams(t *testing.T) {
	for name, c := range map[string]struct{ text, why string }{
		"no result":       {began, "unexpected EOF"},
		"nothing":         {"", "unexpected EOF"},
		"half a line":     {began + ended[:20], "JSON"},
		"an empty result": {`{"type":"result","result":{}}` + "\n", "no result of a run"},
		"no JSON":         {began + "hello\n" + ended, "invalid character"},
		"too long a line": {began + `{"data":"` + strings.Repeat("x", 10_000) + `"}` + "\n" + ended, "10000 bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			seen := 0
			_, err := answering(t, 200, "application/x-ndjson", c.text).Stream(t.Context(), api.Request{Code: "1"}, func(api.Event) error {
				seen++
				return nil
			})
			if mustFail[*client.ConnectionError](t, err); !strings.Contains(err.Error(), "broke off before the result: ") || !strings.Contains(err.Error(), c.why) {
				t.Errorf("%v, want %s", err, c.why)
			}
			if want := min(len(c.text), 1); seen != want {
				t.Errorf("%d events, want %d", seen, want)
			}
		})
	}
}

// The connection broke in the middle of a line: that is why the line is not whole.
func TestStreamConnectionBreaks(t *testing.T) {
	c := answering(t, 200, "application/x-ndjson", began+ended[:20], "Content-Length", "1000")
	_, err := c.Stream(t.Context(), api.Request{Code: "1"}, func(api.Event) error { return nil })
	if mustFail[*client.ConnectionError](t, err); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Error(err)
	}
}

// A line that cannot be read ends the run, though the stream goes on.
func TestBrokenLineOfAnEndlessStream(t *testing.T) {
	gone := make(chan struct{})
	c := calling(t, func(w http.ResponseWriter, r *http.Request) {
		defer close(gone)
		w.Header().Set("Content-Type", "application/x-ndjson")
		for r.Context().Err() == nil {
			_, _ = io.WriteString(w, "hello\n")
		}
	})
	_, err := c.Stream(t.Context(), api.Request{Code: "1"}, func(api.Event) error { return nil })
	mustFail[*client.ConnectionError](t, err)
	<-gone
}

// endless streams until its caller is gone, and then closes gone.
func endless(t *testing.T) (c *client.Client, gone chan struct{}) {
	t.Helper()
	gone = make(chan struct{})
	return calling(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/x-ndjson")
		_, _ = io.WriteString(w, began)
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
		close(gone)
	}), gone
}

func TestCancelClosesTheConnection(t *testing.T) {
	c, gone := endless(t)
	ctx, cancel := context.WithCancel(t.Context())
	_, err := c.Stream(ctx, api.Request{Code: "1"}, func(api.Event) error {
		cancel()
		return nil
	})
	<-gone
	if !errors.Is(err, context.Canceled) || errors.As(err, new(*client.ConnectionError)) {
		t.Errorf("%T %v", err, err)
	}
}

func TestErrorOfTheCallerEndsTheRun(t *testing.T) {
	c, gone := endless(t)
	enough := errors.New("enough")
	_, err := c.Stream(t.Context(), api.Request{Code: "1"}, func(api.Event) error { return enough })
	<-gone
	if err != enough {
		t.Error(err)
	}
}
