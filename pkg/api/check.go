package api

// Check is what can be said of a program without running it.
type Check struct {
	// Language and Version are as resolved.
	Language string `json:"language"`
	Version  string `json:"version"`
	// Policy is the import policy that a run would be held to: off, warn or block.
	Policy string `json:"policy"`
	// Imports are what the sources import, by file. ImportsKnown is false where they
	// cannot be told.
	Imports      []Import `json:"imports"`
	ImportsKnown bool     `json:"imports_known"`
	// BlockedImports are the modules that the policy objects to.
	BlockedImports []string `json:"blocked_imports"`
	// Syntax is one of [SyntaxOK], [SyntaxError] and [SyntaxUnknown]; Message is the
	// error in one sentence, or why there is no telling, and Details are what the
	// compiler wrote.
	Syntax   string   `json:"syntax"`
	Message  string   `json:"message"`
	Details  string   `json:"details"`
	Warnings []string `json:"warnings"`
}

// What [Check.Syntax] says.
const (
	SyntaxOK      = "ok"
	SyntaxError   = "error"
	SyntaxUnknown = "unknown"
)

// Import is one import of a program.
type Import struct {
	Module string `json:"module"`
	File   string `json:"file"`
	// Line is 0 where it is not known.
	Line    int  `json:"line,omitempty"`
	Blocked bool `json:"blocked"`
}
