package language

import (
	"strings"

	"github.com/sandbox-run/sandbox-run/internal/lazyregexp"
)

// What Node writes to stderr.
var (
	nodeNoProcesses = lazyregexp.New(`(?i)(?:spawn|fork|worker|thread).*EAGAIN|ERR_WORKER_INIT_FAILED`)
	nodeFatal       = lazyregexp.New(`(?m)^(?:# )?(?:FATAL ERROR: .* out of memory|Fatal .*out of memory.*)$`)
	nodeError       = lazyregexp.New(`(?m)^(?:Uncaught )?(?:[\w$.]*(?:Error|Rejection|Exception)(?: \[\w+\])?(?:: .*)?)$`)
	nodeRemark      = lazyregexp.New("(?m)^(?:Node\\.js v\\S+|\\(Use `node --trace.*)$")
	nodeWarning     = lazyregexp.New(`(?m)^\(node:\d+\) .*\n(?:\(Use .*\n)?`)
	nodePlace       = lazyregexp.New(`^(?:file://)?/.*:\d+$`)
	nodeSyntaxError = lazyregexp.New(`(?m)^SyntaxError: .*$`)
	nodeFrame       = lazyregexp.New(`(?m)^ {4}at .*$`)
)

// Diagnose quotes the first line that is an error.
func (javascript) Diagnose(_ string, stderr string) Diagnosis { return diagnoseNode(stderr) }

func diagnoseNode(stderr string) Diagnosis {
	d := Diagnosis{
		Reason:      nodeReason(stderr),
		DiskFull:    diskFull(stderr) || strings.Contains(stderr, "ENOSPC") || strings.Contains(stderr, "EDQUOT"),
		NoProcesses: nodeNoProcesses().MatchString(stderr), // and no file that does not block
		SyntaxError: isNodeSyntaxError(stderr),
	}
	if line := nodeFatal().FindString(stderr); line != "" {
		d.OutOfMemory = true
		d.Reason = shorten(strings.TrimPrefix(line, "# "))
	}
	return d
}

// nodeReason is the first line such as "TypeError: x is not a function" or
// "Error [ERR_X]: …", else the value that was thrown, without Node's own
// remarks around it.
func nodeReason(stderr string) string {
	if line := nodeError().FindString(stderr); line != "" {
		return shorten(line)
	}
	return shorten(lastLine(nodeRemark().ReplaceAllString(stderr, "")))
}

// isNodeSyntaxError tells whether Node refused to parse a source before any of
// the program ran. Then the first thing on stderr, but for warnings of Node's
// own, is the place, and no frame of the stack is the user's: JSON.parse, eval
// and require add one.
func isNodeSyntaxError(stderr string) bool {
	text := nodeWarning().ReplaceAllString(stderr, "")
	if !nodePlace().MatchString(firstLine(text)) {
		return false
	}
	at := nodeSyntaxError().FindStringIndex(text)
	if at == nil {
		return false
	}
	for _, frame := range nodeFrame().FindAllString(text[at[1]:], -1) {
		if !strings.Contains(frame, "node:") {
			return false
		}
	}
	return true
}
