package api

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
)

// Request is the body of POST /execute. Every field but Code, or Files in its
// place, may be left out; what is left out takes the operator's default. Zero,
// negative and null never mean unlimited: they are errors. The tags beside the
// names are what the OpenAPI document says of a field and what a server checks.
type Request struct {
	Code     string `json:"code,omitempty" doc:"The main source. It may be left out when files hold the program." example:"print(6*7)"`
	Language string `json:"language,omitempty" default:"python" maxLength:"64" doc:"A name or alias of a language, with an optional version after @." example:"python"`
	Version  string `json:"version,omitempty" maxLength:"64" doc:"The version of the language, as far as it matters: 3, 3.12 or 3.12.1." example:"3.12"`

	TimeoutSeconds float64  `json:"timeout_seconds,omitempty" exclusiveMinimum:"0" maximum:"1000000" doc:"Wall clock of the run phase, in seconds." example:"5"`
	Requirements   []string `json:"requirements,omitempty" maxItems:"256" doc:"Packages in the language's own notation, installed before the run." example:"[\"requests==2.32.3\"]"`

	Files map[string]InputFile `json:"files,omitempty" doc:"Files of the workspace, by relative path: text, or content with an encoding."`
	Stdin string               `json:"stdin,omitempty" doc:"What the program reads."`
	Args  []string             `json:"args,omitempty" maxItems:"4096" doc:"Arguments of the program." example:"[\"--verbose\"]"`
	Env   map[string]string    `json:"env,omitempty" doc:"Environment variables, beside PATH, HOME, USER, LANG, TMPDIR and TZ."`

	Limits  *RequestLimits  `json:"limits,omitempty" doc:"Limits of the run phase."`
	Network *RequestNetwork `json:"network,omitempty" doc:"What the program may reach."`

	Policy *RequestPolicy `json:"policy,omitempty" doc:"What the program may import. It may only be stricter than the operator's."`

	Recompile bool `json:"recompile,omitempty" doc:"Compile, although the result of the same source, toolchain and flags may be kept from before (meta.cached_compile)."`

	Entry     string    `json:"entry,omitempty" maxLength:"4096" doc:"The main file among files; by default the language's convention." example:"main.py"`
	Collect   *[]string `json:"collect,omitempty" maxItems:"256" maxLength:"4096" doc:"Globs of files to return. Left out: what the program made or changed; empty: nothing." example:"[\"out/*.csv\"]"`
	Image     string    `json:"image,omitempty" maxLength:"512" doc:"The root file system, with its own toolchains in place of the server's. The operator says which may be named." example:"python:3.12-slim"`
	Isolation string    `json:"isolation,omitempty" enum:"auto,full,restricted,none" doc:"The isolation level, at least as strong as the server's; one by name is never weakened." example:"auto"`
}

// RequestLimits bind the run phase of a [Request].
type RequestLimits struct {
	MemoryMB   float64 `json:"memory_mb,omitempty" exclusiveMinimum:"0" maximum:"16777216" doc:"Memory and swap together, in MiB." example:"256"`
	CPUCores   float64 `json:"cpu_cores,omitempty" exclusiveMinimum:"0" maximum:"4096" doc:"Cores' worth of CPU time." example:"1"`
	CPUSeconds float64 `json:"cpu_seconds,omitempty" exclusiveMinimum:"0" maximum:"1000000" doc:"CPU time of all processes together, in seconds." example:"10"`
	DiskMB     float64 `json:"disk_mb,omitempty" exclusiveMinimum:"0" maximum:"16777216" doc:"Files of the workspace and /tmp, in MiB." example:"64"`
	Processes  int64   `json:"processes,omitempty" minimum:"1" maximum:"4194304" doc:"Processes and threads together." example:"64"`
	OutputKB   float64 `json:"output_kb,omitempty" exclusiveMinimum:"0" maximum:"1048576" doc:"What the result keeps of each output stream, in KiB: head and tail." example:"20"`
	StreamMB   float64 `json:"stream_mb,omitempty" exclusiveMinimum:"0" maximum:"1048576" doc:"Where an output stream ends the run, in MiB." example:"64"`
	OpenFiles  int64   `json:"open_files,omitempty" minimum:"8" maximum:"1048576" doc:"Open files of one process." example:"256"`
}

// RequestNetwork says what the program of a [Request] may reach.
type RequestNetwork struct {
	Mode     string   `json:"mode,omitempty" enum:"none,localhost,allowlist,full" doc:"none: nothing; localhost: its own loopback; allowlist: what allow names; full: the public internet." example:"none"`
	Allow    []string `json:"allow,omitempty" maxItems:"256" doc:"Entries of the allow-list: a host, *. and a domain for all hosts below it, an address or a network, each with a :PORT or for every port." example:"[\"pypi.org:443\"]"`
	AllowDNS bool     `json:"allow_dns,omitempty" doc:"Names resolve although nothing else can be connected to. A way out for data."`
}

// RequestPolicy is the import policy of a [Request]. It is advice, not a boundary.
type RequestPolicy struct {
	Imports        string   `json:"imports,omitempty" enum:"off,warn,block" doc:"What becomes of a program that imports what is blocked: off: nobody looks; warn: meta.blocked_imports has it; block: it does not run." example:"block"`
	BlockedImports []string `json:"blocked_imports,omitempty" maxItems:"256" doc:"Modules to block beside the operator's, with all below them. Without imports it means block." example:"[\"requests\"]"`
}

// The encodings of the content of a file.
const (
	EncodingUTF8   = "utf8"
	EncodingBase64 = "base64"
)

// InputFile is a file of a [Request]. On the wire it is a string, or an object
// with content and encoding.
type InputFile struct {
	Content string `json:"content" doc:"The content of the file."`
	// Encoding is [EncodingUTF8], which is the default, or [EncodingBase64].
	Encoding string `json:"encoding,omitempty" enum:"utf8,base64" doc:"How content is written."`
}

// Bytes decodes the content.
func (f InputFile) Bytes() ([]byte, error) {
	switch f.Encoding {
	case "", EncodingUTF8:
		return []byte(f.Content), nil
	case EncodingBase64:
		content, err := base64.StdEncoding.DecodeString(f.Content)
		if err != nil {
			return nil, fmt.Errorf("the content is not base64: %w", err)
		}
		return content, nil
	}
	return nil, fmt.Errorf("unknown encoding %q: expected %s or %s", f.Encoding, EncodingUTF8, EncodingBase64)
}

// Problem is an error of the server as RFC 9457 has it.
type Problem struct {
	// Type tells kinds apart that share a status, such as the reasons of a 429.
	Type      string         `json:"type" example:"urn:sandbox-run:problem:capacity"`
	Title     string         `json:"title"`
	Status    int            `json:"status"`
	Detail    string         `json:"detail"`
	RequestID string         `json:"request_id,omitempty"`
	Errors    []ProblemError `json:"errors,omitempty"`
	// Result is the run's, when it ended with [StatusSandboxError].
	Result *Result `json:"result,omitempty"`
}

func (p *Problem) Error() string { return p.Detail }

// ProblemError is one fault of a request.
type ProblemError struct {
	// Pointer is the JSON pointer (RFC 6901) of the field at fault.
	Pointer string `json:"pointer"`
	Detail  string `json:"detail"`
}

// UnmarshalJSON reads a string, or an object with content and encoding.
func (f *InputFile) UnmarshalJSON(text []byte) error {
	if len(text) > 0 && text[0] == '"' {
		f.Encoding = ""
		return json.Unmarshal(text, &f.Content)
	}
	var fields map[string]json.RawMessage // whose names are read as they are written
	if err := json.Unmarshal(text, &fields); err != nil {
		return err
	}
	*f = InputFile{}
	for name, value := range fields {
		var err error
		switch name {
		case "content":
			err = json.Unmarshal(value, &f.Content)
		case "encoding":
			err = json.Unmarshal(value, &f.Encoding)
		default:
			err = fmt.Errorf("a file has content and encoding, and no %.40q", name)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// MarshalJSON writes a string where no encoding is named.
func (f InputFile) MarshalJSON() ([]byte, error) {
	if f.Encoding == "" {
		return json.Marshal(f.Content)
	}
	type plain InputFile // without this method
	return json.Marshal(plain(f))
}
