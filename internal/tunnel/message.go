package tunnel

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"slices"
	"time"

	"github.com/sandbox-run/sandbox-run/pkg/sandbox"
)

// Op is what a call asks for.
type Op string

// The operations of a container. The first call of a connection is OpCreate.
const (
	OpCreate  Op = "create"
	OpStart   Op = "start" // channels: 0 input, 1 output, 2 errors
	OpSignal  Op = "signal"
	OpKill    Op = "kill"
	OpMetrics Op = "metrics"
	OpResize  Op = "resize"
	OpWrite   Op = "write" // channel 0: the content
	OpMkdir   Op = "mkdir"
	OpOpen    Op = "open" // channel 1: the content
	OpWalk    Op = "walk" // channel 1: a FileInfo a line
	OpUsage   Op = "usage"
	OpDelete  Op = "delete"
)

// Request is what a call begins with.
type Request struct {
	Op      Op       `json:"op"`
	Spec    *Spec    `json:"spec,omitempty"`
	Process *Process `json:"process,omitempty"`
	// Call is the OpStart that an operation on a process means.
	Call       uint32      `json:"call,omitempty"`
	Signal     int         `json:"signal,omitempty"`
	Rows, Cols uint16      `json:",omitempty"`
	Dir        string      `json:"dir,omitempty"`
	Name       []byte      `json:"name,omitempty"`
	Mode       fs.FileMode `json:"mode,omitempty"`
	Max        int         `json:"max,omitempty"`
}

// Spec is a [sandbox.Spec] without what is the far side's: directories of its host,
// and whom the container is for there.
type Spec struct {
	Level           sandbox.Level `json:"level,omitempty"`
	Mounts          []Mount       `json:"mounts,omitempty"`
	Network         NetworkPolicy `json:"network,omitzero"`
	DiskBytes       int64         `json:"disk_bytes,omitempty"`
	DiskInodes      int64         `json:"disk_inodes,omitempty"`
	BuildBytes      int64         `json:"build_bytes,omitempty"`
	BuildInodes     int64         `json:"build_inodes,omitempty"`
	Image           string        `json:"image,omitempty"`
	Language        string        `json:"language,omitempty"`
	Version         string        `json:"version,omitempty"`
	WorkspaceOnDisk bool          `json:"workspace_on_disk,omitempty"`
	MemoryBytes     int64         `json:"memory_bytes,omitempty"`
	// Digest is that of the image that the near side has planned with; empty takes
	// any.
	Digest string `json:"digest,omitempty"`
}

// Mount is an empty directory, or what the far side keeps by a name.
type Mount struct {
	Kept    string `json:"kept,omitempty"`
	Target  string `json:"target"`
	Overlay bool   `json:"overlay,omitempty"`
}

// NetworkPolicy is a [sandbox.NetworkPolicy], but for the far host's proxy.
type NetworkPolicy struct {
	Mode     sandbox.NetworkMode `json:"mode,omitempty"`
	Allow    []string            `json:"allow,omitempty"`
	AllowDNS bool                `json:"allow_dns,omitempty"`
}

// Policy is what it says.
func (p NetworkPolicy) Policy() sandbox.NetworkPolicy {
	return sandbox.NetworkPolicy{Mode: p.Mode, Allow: p.Allow, AllowDNS: p.AllowDNS}
}

func networkPolicy(p sandbox.NetworkPolicy) NetworkPolicy {
	return NetworkPolicy{Mode: p.Mode, Allow: p.Allow, AllowDNS: p.AllowDNS}
}

// NewSpec is spec as it travels. Directories of this host stay behind: those that
// must not are refused, with a [*sandbox.UnsupportedError].
func NewSpec(spec sandbox.Spec) (*Spec, error) {
	out := &Spec{
		Level: spec.Level, Network: networkPolicy(spec.Network),
		DiskBytes: spec.Disk.Bytes, DiskInodes: spec.Disk.Inodes, BuildBytes: spec.BuildDisk.Bytes, BuildInodes: spec.BuildDisk.Inodes,
		Image: spec.Image, Language: spec.Language, Version: spec.Version, WorkspaceOnDisk: spec.WorkspaceOnDisk,
		MemoryBytes: spec.MemoryBytes,
	}
	for _, m := range spec.Mounts {
		switch {
		case m.Source == "":
			out.Mounts = append(out.Mounts, Mount{Kept: m.Kept, Target: m.Target, Overlay: m.Overlay})
		case !m.Optional:
			return nil, &sandbox.UnsupportedError{What: "mounting " + m.Source, Reason: "the container is on another machine, which does not have it",
				Mend: "Give the files to the run, or use a runtime of this machine"}
		}
	}
	return out, nil
}

// Spec is the specification as the far side's runtime takes it. Mounts are for
// the far side to look up.
func (s *Spec) Spec() sandbox.Spec {
	return sandbox.Spec{
		Level: s.Level, Network: s.Network.Policy(), Disk: sandbox.DiskLimit{Bytes: s.DiskBytes, Inodes: s.DiskInodes},
		BuildDisk: sandbox.DiskLimit{Bytes: s.BuildBytes, Inodes: s.BuildInodes}, Image: s.Image, Language: s.Language, Version: s.Version,
		WorkspaceOnDisk: s.WorkspaceOnDisk, MemoryBytes: s.MemoryBytes,
	}
}

// Process is a [sandbox.Process] without its streams.
type Process struct {
	Args     [][]byte       `json:"args"`
	Env      [][]byte       `json:"env,omitempty"`
	Dir      []byte         `json:"dir,omitempty"`
	Stdin    bool           `json:"stdin,omitempty"`
	Stdout   bool           `json:"stdout,omitempty"`
	Stderr   bool           `json:"stderr,omitempty"`
	TTY      *sandbox.TTY   `json:"tty,omitempty"`
	Limits   Limits         `json:"limits,omitzero"`
	Network  *NetworkPolicy `json:"network,omitempty"`
	ReadOnly []string       `json:"read_only,omitempty"`
}

// Limits are [sandbox.Limits].
type Limits struct {
	WallTime      time.Duration `json:"wall_time_ns,omitempty"`
	CPUTime       time.Duration `json:"cpu_time_ns,omitempty"`
	CPUs          float64       `json:"cpus,omitempty"`
	MemoryBytes   int64         `json:"memory_bytes,omitempty"`
	Processes     int64         `json:"processes,omitempty"`
	OpenFiles     int64         `json:"open_files,omitempty"`
	FileSizeBytes int64         `json:"file_size_bytes,omitempty"`
	Strict        []string      `json:"strict,omitempty"`
}

// NewProcess is p as it travels.
func NewProcess(p sandbox.Process) *Process {
	out := &Process{
		Args: lines(p.Args), Env: lines(p.Env), Dir: []byte(p.Dir), TTY: p.TTY, Limits: Limits(p.Limits), ReadOnly: p.ReadOnly,
		Stdin: p.Stdin != nil, Stdout: p.Stdout != nil, Stderr: p.Stderr != nil,
	}
	if p.Network != nil {
		policy := networkPolicy(*p.Network)
		out.Network = &policy
	}
	return out
}

// Process is the process as the far side's container takes it, without streams.
func (p *Process) Process() sandbox.Process {
	out := sandbox.Process{Args: texts(p.Args), Env: texts(p.Env), Dir: string(p.Dir), TTY: p.TTY, Limits: sandbox.Limits(p.Limits), ReadOnly: p.ReadOnly}
	if p.Network != nil {
		policy := p.Network.Policy()
		out.Network = &policy
	}
	return out
}

func lines(texts []string) [][]byte {
	out := make([][]byte, len(texts))
	for i, t := range texts {
		out[i] = []byte(t)
	}
	return out
}

func texts(lines [][]byte) []string {
	out := make([]string, len(lines))
	for i, l := range lines {
		out[i] = string(l)
	}
	return out
}

// FileInfo is a [sandbox.FileInfo].
type FileInfo struct {
	Path    []byte      `json:"path,omitempty"`
	Size    int64       `json:"size"`
	Mode    fs.FileMode `json:"mode"`
	ModTime time.Time   `json:"mod_time"`
	Inode   uint64      `json:"inode,omitempty"`
	Links   uint64      `json:"links,omitempty"`
}

// Answer is what the far side says to a call.
type Answer struct {
	Error   *Error             `json:"error,omitempty"`
	Created *Created           `json:"created,omitempty"`
	Exit    *sandbox.Exit      `json:"exit,omitempty"`
	Metrics *sandbox.Metrics   `json:"metrics,omitempty"`
	File    *FileInfo          `json:"file,omitempty"`
	Usage   *sandbox.DiskUsage `json:"usage,omitempty"`
}

// Created is a container.
type Created struct {
	ID        string            `json:"id"`
	Isolation sandbox.Isolation `json:"isolation"`
}

// Failed is the answer that tells of an error.
func Failed(err error) Answer {
	if err == nil {
		return Answer{}
	}
	return Answer{Error: NewError(err)}
}

// bytes never fail: an answer that cannot be written tells so.
func (a Answer) bytes() []byte {
	text, err := json.Marshal(a)
	if err == nil && len(text) <= MaxText {
		return text
	}
	if a.Exit != nil && err == nil { // what it says of the network has no bound of its own
		short := *a.Exit
		short.Violations, short.Network.Queries, short.Network.Failures = shortened(short.Violations), nil, nil
		text, _ = json.Marshal(Answer{Exit: &short})
		if len(text) <= MaxText {
			return text
		}
	}
	return []byte(`{"error":{"message":"the answer is too large for the connection"}}`)
}

func shortened(list []string) []string { return slices.Clone(list[:min(len(list), 100)]) }

func (r Request) bytes() ([]byte, error) {
	text, err := json.Marshal(r)
	if err == nil && len(text) > MaxText {
		err = ErrTooLong
	}
	return text, err
}

// Request reads what the near side has asked for.
func (c *Call) Request() (Request, error) {
	var r Request
	d := json.NewDecoder(bytes.NewReader(c.request))
	d.DisallowUnknownFields()
	err := d.Decode(&r)
	return r, err
}

// parseAnswer reads an answer. told is how the words of an error are told on; nil is as they are.
func parseAnswer(text []byte, told func(string) string) (Answer, error) {
	var a Answer
	if err := json.Unmarshal(text, &a); err != nil {
		return Answer{}, malformed(err)
	}
	if a.Error != nil {
		if told != nil {
			a.Error.Rewrite(told)
		}
		return a, a.Error.Err()
	}
	return a, a.check()
}
