package cli

// verb is one word that may stand first on the command line.
type verb struct {
	name, help string
	// grammar makes the empty struct that the verb's flags are read into.
	grammar func() any
	run     func(a *app, args []string) (int, error)
	hidden  bool
	// verbs may follow this one; their names begin with its.
	verbs []verb
}

// verbs is the grammar of the whole tool, in the order of the help page.
func verbs() []verb {
	return []verb{
		{name: "run", help: "Run a program in a sandbox (the default: the word may be left out).",
			grammar: func() any { return &runFlags{} }, run: (*app).run},
		{name: "check", help: "Tell what a program imports and whether it parses, without running it.",
			grammar: func() any { return &checkFlags{} }, run: (*app).check},
		{name: "languages", help: "List the languages, their toolchains here, and how to install the missing ones.",
			grammar: func() any { return &lookFlags{} }, run: (*app).languages},
		{name: "doctor", help: "Show each wall and limit: enforced, degraded or absent, and what mends it; and which settings of this host could be harder.",
			grammar: func() any { return &doctorFlags{} }, run: (*app).doctor},
		{name: "bench", help: "Measure small programs on this machine: bare, in containers that are ready, and by one call of this tool.",
			grammar: func() any { return &benchFlags{} }, run: (*app).bench},
		{name: "image", help: "Get, list and remove images, the root file systems that programs may have in place of the host's.",
			grammar: func() any { return &struct{}{} }, run: (*app).image, verbs: imageVerbs()},
		{name: "gc", help: "Remove what killed runs, interrupted pulls and older versions left behind, and images without a name.",
			grammar: func() any { return &listFlags{} }, run: (*app).gc},
		{name: "completion", help: "Print a completion script for bash, zsh or fish.",
			grammar: func() any { return &completionFlags{} }, run: (*app).completion},
		{name: "version", help: "Print the version.",
			grammar: func() any { return &listFlags{} }, run: (*app).version},
		{name: "__man", help: "Print the manual page.",
			grammar: func() any { return &struct{}{} }, run: (*app).man, hidden: true},
	}
}

// findVerb knows a verb by its name; those of images are named "image pull".
func findVerb(name string) (verb, bool) {
	for _, v := range verbs() {
		if v.name == name {
			return v, true
		}
		for _, below := range v.verbs {
			if below.name == name {
				return below, true
			}
		}
	}
	return verb{}, false
}

// shownVerbs are those of the help page.
func shownVerbs() []verb {
	var shown []verb
	for _, v := range verbs() {
		if !v.hidden {
			shown = append(shown, v)
		}
	}
	return shown
}
