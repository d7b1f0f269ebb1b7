package e2b

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
)

func messagesOf(raw []byte) *messages {
	return newMessages(io.NopCloser(bytes.NewReader(raw)), where{op: "test"})
}

func TestMessages(t *testing.T) {
	message := func(s string) []byte { return envelope(0, []byte(s)) }
	end := func(s string) []byte { return envelope(flagEnd, []byte(s)) }
	for name, tc := range map[string]struct {
		raw  []byte
		want string // the standard output, then the error
	}{
		"whole":               {slices.Concat(message(`{"event":{"data":{"stdout":"aGk="}}}`), message(`{"event":{"keepalive":{}}}`), end(`{}`)), "hi|EOF"},
		"an error at the end": {end(`{"error":{"code":"unavailable","message":"it sleeps"}}`), "|E2B: test: it sleeps (unavailable)"},
		"quota":               {end(`{"error":{"code":"resource_exhausted"}}`), "|E2B's quota or rate limit is used up: it gives no reason; try again later"},
		"nothing":             {nil, "|E2B: test: the stream broke off"},
		"half a header":       {[]byte{0, 0, 0}, "|E2B: test: the stream broke off"},
		"half a message":      {message(`{"event":{}}`)[:9], "|E2B: test: the stream broke off"},
		"flags":               {[]byte{1, 0, 0, 0, 0}, "|E2B: test: a message has the flags 0x1, which were not asked for"},
		"too long":            {[]byte{0, 0x7f, 0, 0, 0}, "|E2B: test: a message of 2130706432 bytes is larger than any that envd sends"},
		"no JSON":             {message("<html>"), "|E2B: test: a message of the stream cannot be read: invalid character '<' looking for beginning of value"},
		"a wrong type":        {message(`{"event":{"data":{"stdout":7}}}`), "|E2B: test: a message of the stream cannot be read: json: cannot unmarshal number into Go struct field dataEvent.event.data.stdout of type []uint8"},
		"a bad end":           {end("x"), "|E2B: test: the end of the stream cannot be read"},
	} {
		var out strings.Builder
		m := messagesOf(tc.raw)
		var err error
		for err == nil {
			var event processMessage
			if err = m.next(&event); err == nil && event.Event.Data != nil {
				out.Write(event.Event.Data.Stdout)
			}
		}
		if got := out.String() + "|" + err.Error(); got != tc.want {
			t.Errorf("%s: %q, want %q", name, got, tc.want)
		}
		if m.next(&processMessage{}) != io.EOF {
			t.Errorf("%s: it goes on behind its end", name)
		}
	}
}

func TestOutcome(t *testing.T) {
	for _, tc := range []struct {
		json         string
		code, signal int
		fails        bool
	}{
		{json: `{"exited":true,"status":"exit status 0"}`},
		{json: `{"exited":true}`},
		{json: `{"exitCode":7,"exited":true,"status":"exit status 7"}`, code: 7},
		{json: `{"exitCode":3,"exited":true}`, code: 3},
		{json: `{"exitCode":137,"exited":true,"status":"exit status 137"}`, code: 137},
		{json: `{"exitCode":-1,"status":"signal: killed"}`, code: 137, signal: 9},
		{json: `{"exitCode":-1,"status":"signal: segmentation fault (core dumped)"}`, code: 139, signal: 11},
		{json: `{"exitCode":-1,"status":"signal: bad system call"}`, code: 159, signal: 31},
		{json: `{"exitCode":-1,"status":"signal: signal 35"}`, code: 163, signal: 35},
		{json: `{"exitCode":-1,"status":"signal: signal 99"}`, fails: true},
		{json: `{"exitCode":-1,"status":"signal: love"}`, fails: true},
		{json: `{"exitCode":-1}`, fails: true},
		{json: `{"exitCode":4000,"exited":true}`, fails: true},
		{json: `{}`, fails: true},
	} {
		var e endEvent
		if err := json.Unmarshal([]byte(tc.json), &e); err != nil {
			t.Fatal(err)
		}
		code, signal, err := e.outcome()
		if code != tc.code || signal != tc.signal || (err != nil) != tc.fails {
			t.Errorf("%s: %d %d %v", tc.json, code, signal, err)
		}
	}
}

func TestVersion(t *testing.T) {
	for s, want := range map[string]bool{"0.5.2": true, "0.5.10": true, "v1.0.0": true, "0.5.2-rc1": true, "0.5.1": false, "0.4.99": false, "": false, "new": false, "0.5.x": false} {
		if got := parseVersion(s).has(versionCloseStdin); got != want {
			t.Errorf("%q has CloseStdin: %v", s, got)
		}
	}
}

// FuzzMessages: whatever a service sends ends in an error, in bounded memory.
func FuzzMessages(f *testing.F) {
	f.Add(slices.Concat(envelope(0, []byte(`{"event":{"start":{"pid":1}}}`)), envelope(0, []byte(`{"event":{"end":{"exitCode":-1,"status":"signal: killed"}}}`)), envelope(2, []byte(`{}`))))
	f.Add(envelope(2, []byte(`{"error":{"code":"not_found","message":"x"}}`)))
	f.Add([]byte{0, 0xff, 0xff, 0xff, 0xff, 1})
	f.Fuzz(func(t *testing.T, raw []byte) {
		m := messagesOf(raw)
		for range len(raw) + 1 {
			var event processMessage
			err := m.next(&event)
			if cap(m.buf) > maxMessageAt {
				t.Fatalf("%d bytes are held", cap(m.buf))
			}
			if err != nil {
				return
			}
			if end := event.Event.End; end != nil {
				if code, signal, err := end.outcome(); err == nil && (code < 0 || code > 255 || signal < 0 || signal > 64) {
					t.Fatalf("exit code %d, signal %d", code, signal)
				}
			}
		}
		t.Fatal("there are more messages than bytes")
	})
}

// FuzzList: names that a service lists stay in their directory.
func FuzzList(f *testing.F) {
	f.Add([]byte(`{"entries":[{"name":"a","type":"FILE_TYPE_FILE","size":"12","mode":420,"permissions":"-rw-r--r--","modifiedTime":"2026-01-01T00:00:00Z"},{"name":"../b"}]}`))
	f.Add([]byte(`{}`))
	f.Add([]byte(`{"entries":[{"name":"a","size":-1}]}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		_ = decodeList(bytes.NewReader(raw), func(e entry) error {
			if e.Name == "" || e.Name == "." || e.Name == ".." || strings.Contains(e.Name, "/") || e.Size < 0 {
				t.Fatalf("%+v came through", e)
			}
			return nil
		})
	})
}

// FuzzFigures: lines of the scripts are outside input as well.
func FuzzFigures(f *testing.F) {
	f.Add("stat 1 2 3 4 5")
	f.Add("stat 1125899906842624 1 1125899906842624 1 1125899906842624")
	f.Add("stat 68719476736 68719476736 68719476736 68719476736 68719476736")
	f.Add("disk 4096 512 510 100 98\noom 3\nbuild 4096 1 1 1 1")
	f.Fuzz(func(t *testing.T, line string) {
		c := &container{facts: facts{tmpfs: true, page: maxPage}}
		pr := &process{c: c}
		pr.figures(line)
		c.swept(line)
		memory := int64(0)
		if pr.metrics.MemoryBytes != nil {
			memory = *pr.metrics.MemoryBytes
		}
		for _, d := range []int64{memory, c.disk.BytesUsed, c.disk.BytesTotal - c.disk.BytesUsed, c.disk.InodesUsed, c.build.BytesTotal, c.oom} {
			if d < 0 {
				t.Fatalf("%q: %+v", line, c.disk)
			}
		}
		if cpu, _ := pr.metrics.CPU(); cpu < 0 {
			t.Fatalf("%q: %v", line, cpu)
		}
	})
}

func TestDecodeList(t *testing.T) {
	enough := errors.New("enough")
	var names []string
	err := decodeList(strings.NewReader(`{"entries":[{"name":"a"},{"name":"b/c"},{"name":".."},{"name":"d","size":"5"},{"name":"e"}]}`), func(e entry) error {
		names = append(names, e.Name)
		if e.Size == 5 {
			return enough
		}
		return nil
	})
	if !errors.Is(err, enough) || !slices.Equal(names, []string{"a", "d"}) {
		t.Errorf("%q, %v", names, err)
	}
	for _, bad := range []string{"", "[]", `{"x":1}`, `{"entries":{}}`, `{"entries":[1]}`, `{"entries":[{"name":"a"}`, `{"entries":[{"name":"a"},`} {
		if err := decodeList(strings.NewReader(bad), func(entry) error { return nil }); err == nil {
			t.Errorf("%q is a list", bad)
		}
	}
}
