package e2btest

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"os/user"
	"strconv"
	"strings"
	"sync"
)

// envd is the daemon in a sandbox.
type envd struct {
	opts guestOptions

	mu        sync.Mutex
	processes map[uint32]*process
}

func serveEnvd(opts guestOptions) error {
	socket := os.NewFile(guestSocket, "socket")
	l, err := net.FileListener(socket)
	if err != nil {
		return err
	}
	socket.Close()
	os.NewFile(guestProgram, "program").Close()
	e := &envd{opts: opts, processes: map[uint32]*process{}}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /health", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
	mux.HandleFunc("POST /process.Process/Start", e.allowed(e.start))
	mux.HandleFunc("POST /process.Process/SendInput", e.allowed(e.sendInput))
	mux.HandleFunc("POST /process.Process/CloseStdin", e.allowed(e.closeStdin))
	mux.HandleFunc("POST /process.Process/SendSignal", e.allowed(e.sendSignal))
	mux.HandleFunc("POST /process.Process/Update", e.allowed(e.update))
	mux.HandleFunc("POST /filesystem.Filesystem/Stat", e.allowed(e.stat))
	mux.HandleFunc("POST /filesystem.Filesystem/MakeDir", e.allowed(e.makeDir))
	mux.HandleFunc("POST /filesystem.Filesystem/ListDir", e.allowed(e.listDir))
	mux.HandleFunc("POST /filesystem.Filesystem/Remove", e.allowed(e.remove))
	mux.HandleFunc("GET /files", e.allowed(e.download))
	mux.HandleFunc("POST /files", e.allowed(e.upload))
	return (&http.Server{Handler: mux}).Serve(l)
}

// account is one of the sandbox's users.
type account struct {
	name, home string
	uid, gid   int
}

// allowed checks the token and finds the user.
func (e *envd) allowed(f func(http.ResponseWriter, *http.Request, account)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-Access-Token") != e.opts.Token {
			fail(w, http.StatusUnauthorized, "unauthorized access, please provide a valid access token")
			return
		}
		name := r.URL.Query().Get("username")
		if encoded, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Basic "); ok && name == "" {
			decoded, _ := base64.StdEncoding.DecodeString(encoded)
			name, _, _ = strings.Cut(string(decoded), ":")
		}
		u, err := user.Lookup(name)
		if err != nil {
			refuse(w, "unauthenticated", "invalid username: '"+name+"'")
			return
		}
		uid, _ := strconv.Atoi(u.Uid)
		gid, _ := strconv.Atoi(u.Gid)
		f(w, r, account{name, u.HomeDir, uid, gid})
	}
}

// statuses are the HTTP statuses of Connect's codes.
var statuses = map[string]int{
	"canceled": 499, "invalid_argument": 400, "not_found": 404, "already_exists": 409, "permission_denied": 403,
	"resource_exhausted": 429, "failed_precondition": 400, "unauthenticated": 401, "unavailable": 503, "internal": 500,
}

func refuse(w http.ResponseWriter, code, message string) {
	answer(w, statuses[code], map[string]string{"code": code, "message": message})
}

// refuseFor turns an error of a file call into Connect's.
func refuseFor(w http.ResponseWriter, err error) {
	code := "internal"
	switch {
	case errors.Is(err, fs.ErrNotExist):
		code = "not_found"
	case errors.Is(err, fs.ErrExist):
		code = "already_exists"
	}
	refuse(w, code, err.Error())
}

// sender writes the messages of a stream, until its client has gone.
type sender struct {
	mu   sync.Mutex
	w    http.ResponseWriter
	gone bool
}

func (s *sender) send(flags byte, message any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.gone {
		return
	}
	payload, err := json.Marshal(message)
	if err == nil {
		header := binary.BigEndian.AppendUint32([]byte{flags}, uint32(len(payload)))
		_, err = s.w.Write(append(header, payload...))
	}
	if err != nil {
		s.gone = true
		return
	}
	if f, ok := s.w.(http.Flusher); ok {
		f.Flush()
	}
}

// event is an event of a process.
func event(kind string, fields map[string]any) map[string]any {
	return map[string]any{"event": map[string]any{kind: fields}}
}

// readEnvelope reads the one message of a request.
func readEnvelope(r io.Reader, out any) error {
	var header [5]byte
	if _, err := io.ReadFull(r, header[:]); err != nil {
		return err
	}
	length := binary.BigEndian.Uint32(header[1:])
	if header[0] != 0 || length > 8<<20 {
		return fmt.Errorf("flags %d, length %d", header[0], length)
	}
	payload := make([]byte, length)
	if _, err := io.ReadFull(r, payload); err != nil {
		return err
	}
	return json.Unmarshal(payload, out)
}
