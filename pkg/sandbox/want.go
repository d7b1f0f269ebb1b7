package sandbox

import (
	"encoding/json"
	"slices"
	"strconv"
)

// Want is a container that is wanted.
type Want struct {
	Spec Spec
	// Ahead, if not nil, is started in it before there is work for it.
	Ahead *Ahead
	// First, without Ahead, is what is known of its first process ([Expecter]), or nil. A
	// container that was made for another will do.
	First *Process

	kept   bool   // it has worked for the spec's tenant
	beside bool   // it is of those beside who asks without a tenant; see classFor
	rest   string // what described found, or empty
}

// key is equal for two that one container may stand for: all of what it is made of, and
// of what was started in it.
func (w Want) key() (key string, ok bool) {
	rest := w.rest
	if rest == "" {
		rest = w.describe()
	}
	return strconv.FormatBool(w.kept) + strconv.FormatBool(w.beside) + strconv.Quote(w.Spec.Tenant) + rest, rest != ""
}

// described are wants whose keys take no time: they are asked for where others wait.
func described(wants []Want) []Want {
	wants = slices.Clone(wants)
	for i := range wants {
		if wants[i].rest == "" {
			wants[i].rest = wants[i].describe()
		}
	}
	return wants
}

// describe is all that a key is made of but whom it is for; empty where that cannot be told from
// others.
func (w Want) describe() string {
	type ahead struct {
		Process
		Stdin, Stdout, Stderr, TTY, Work, Awake struct{} // hide what is the run's
		Files                                   map[string][]byte
		BuildDirs                               []string
		Quiet, Again                            bool
	}
	of := struct {
		Spec  Spec
		Ahead *ahead
	}{Spec: w.Spec}
	of.Spec.Tenant, of.Spec.MemoryBytes = "", 0
	if w.Ahead != nil {
		of.Ahead = &ahead{Process: w.Ahead.Process, Files: w.Ahead.Files, BuildDirs: w.Ahead.BuildDirs, Quiet: w.Ahead.Quiet, Again: w.Ahead.Again}
		of.Ahead.Limits = kernelHeld(of.Ahead.Limits)
	}
	b, err := json.Marshal(of)
	if err != nil { // a limit that is no number is nobody else's
		return ""
	}
	return string(b)
}
