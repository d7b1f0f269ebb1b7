package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/sandbox-run/sandbox-run/pkg/executor/language"
)

// completion prints a script that teaches a shell the flags, the values of
// those that have a fixed set, the languages, and where files are meant.
func (a *app) completion(args []string) (int, error) {
	f := &completionFlags{}
	help, err := a.parseVerb("completion", f, args)
	if err != nil || help {
		return exitOK, err
	}
	words, err := completionWords()
	if err != nil {
		return 0, err
	}
	switch f.Shell {
	case "bash":
		return exitOK, a.print(bashScript(words))
	case "zsh":
		return exitOK, a.print(zshScript(words))
	}
	return exitOK, a.print(fishScript(words))
}

// completable is one flag as a shell should know it.
type completable struct {
	short, long, help string
	takesValue        bool
	values            []string // the fixed set, if there is one
	files             bool     // the value is a file or directory
}

// vocabulary is what a shell is taught.
type vocabulary struct {
	verbs []verb
	// flags are those of each verb, by its whole name, and files tells the verbs that
	// take the names of files.
	flags map[string][]completable
	files map[string]bool
}

func completionWords() (vocabulary, error) {
	v := vocabulary{verbs: shownVerbs(), flags: map[string][]completable{}, files: map[string]bool{}}
	names := []string{execLanguage}
	for _, lang := range language.All() {
		info := lang.Info()
		names = append(append(names, info.Name), info.Aliases...)
	}
	slices.Sort(names)
	names = slices.Compact(names)
	for _, parent := range v.verbs {
		for _, verb := range append([]verb{parent}, parent.verbs...) {
			groups, positional, err := grammarOf(verb)
			if err != nil {
				return v, err
			}
			v.flags[verb.name], v.files[verb.name] = completables(groups, names), len(positional) > 0
		}
	}
	return v, nil
}

// plain are the verbs that are followed by flags, and some by files.
func (v vocabulary) plain() []verb {
	return slices.DeleteFunc(slices.Clone(v.verbs), func(v verb) bool {
		return v.name == "run" || v.name == "completion" || len(v.verbs) > 0
	})
}

// completables are the flags of a verb.
func completables(groups []flagGroup, languages []string) []completable {
	var flags []completable
	for _, g := range groups {
		for _, f := range g.flags {
			flags = append(flags, newCompletable(f, languages))
		}
	}
	return append(flags, completable{short: "h", long: "help", help: "Show the help page."})
}

// lastWords are verbs as they are typed, behind those that they follow.
func lastWords(verbs []verb) []string {
	var words []string
	for _, v := range verbs {
		words = append(words, v.name[strings.LastIndex(v.name, " ")+1:])
	}
	return words
}

func newCompletable(f *kong.Flag, languages []string) completable {
	c := completable{long: f.Name, help: f.Help, takesValue: !f.IsBool()}
	if f.Short != 0 {
		c.short = string(f.Short)
	}
	switch f.Name {
	case "lang":
		c.values = languages
	case "server":
		c.values = []string{AutoServer}
	case "file", "stdin", "in", "out", "entry", "requirements":
		c.files = true
	}
	for _, value := range strings.Split(f.Enum, ",") {
		if value != "" {
			c.values = append(c.values, value)
		}
	}
	return c
}

// flagWords are -l and --lang of every flag.
func flagWords(flags []completable) []string {
	var words []string
	for _, f := range flags {
		words = append(words, "--"+f.long)
		if f.short != "" {
			words = append(words, "-"+f.short)
		}
	}
	return words
}

// pattern is -l|--lang, for a case of a shell.
func (c completable) pattern() string {
	if c.short == "" {
		return "--" + c.long
	}
	return "-" + c.short + "|--" + c.long
}

func verbNames(verbs []verb) string {
	var names []string
	for _, v := range verbs {
		names = append(names, v.name)
	}
	return strings.Join(names, " ")
}

func bashScript(v vocabulary) string {
	var b strings.Builder
	b.WriteString(`# bash completion for sandbox-run; load it with
#   source <(sandbox-run completion bash)
_sandbox_run() {
    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} word
    local IFS=$' \t\n'
    COMPREPLY=()
    for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
        if [[ $word == -- ]]; then
            compopt -o default 2>/dev/null
            return
        fi
    done
    case ${COMP_WORDS[1]} in
`)
	for _, verb := range v.plain() {
		guard := ""
		if v.files[verb.name] { // which all that is no flag is completed to below
			guard = "[[ $cur == -* ]] && "
		}
		fmt.Fprintf(&b, "        %s)\n%s", verb.name, bashValues(v.flags[verb.name]))
		fmt.Fprintf(&b, "            %s{ COMPREPLY=($(compgen -W '%s' -- \"$cur\")); (( COMP_CWORD > 1 )) && return; } ;;\n", guard, strings.Join(flagWords(v.flags[verb.name]), " "))
	}
	b.WriteString("        completion) COMPREPLY=($(compgen -W 'bash zsh fish' -- \"$cur\")); (( COMP_CWORD > 1 )) && return ;;\n")
	for _, verb := range v.verbs {
		b.WriteString(bashBelow(verb, v))
	}
	b.WriteString("    esac\n" + bashValues(v.flags["run"]))
	fmt.Fprintf(&b, `    if [[ $cur == -* ]]; then
        COMPREPLY=($(compgen -W '%s' -- "$cur"))
        return
    fi
    compopt -o filenames 2>/dev/null
    mapfile -t COMPREPLY < <(compgen -f -- "$cur")
    if (( COMP_CWORD == 1 )); then
        COMPREPLY+=($(compgen -W '%s' -- "$cur"))
    fi
}
complete -F _sandbox_run sandbox-run
`, strings.Join(flagWords(v.flags["run"]), " "), verbNames(v.verbs))
	return b.String()
}

// bashValues completes what follows a flag that takes a value.
func bashValues(flags []completable) string {
	var b strings.Builder
	b.WriteString("    case $prev in\n")
	for _, f := range flags {
		switch {
		case len(f.values) > 0:
			fmt.Fprintf(&b, "        %s) COMPREPLY=($(compgen -W '%s' -- \"$cur\")); return ;;\n", f.pattern(), strings.Join(f.values, " "))
		case f.files:
			fmt.Fprintf(&b, "        %s) compopt -o filenames 2>/dev/null; mapfile -t COMPREPLY < <(compgen -f -- \"$cur\"); return ;;\n", f.pattern())
		case f.takesValue:
			fmt.Fprintf(&b, "        %s) return ;;\n", f.pattern())
		}
	}
	return b.String() + "    esac\n"
}

// bashBelow completes what follows a verb that is followed by others: their names,
// then their flags, and files.
func bashBelow(parent verb, v vocabulary) string {
	if len(parent.verbs) == 0 {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "        %s)\n            if (( COMP_CWORD == 2 )); then\n", parent.name)
	fmt.Fprintf(&b, "                COMPREPLY=($(compgen -W '%s' -- \"$cur\"))\n                return\n            fi\n", strings.Join(lastWords(parent.verbs), " "))
	b.WriteString("            case ${COMP_WORDS[2]} in\n")
	for i, child := range parent.verbs {
		fmt.Fprintf(&b, "                %s) word='%s' ;;\n", lastWords(parent.verbs)[i], strings.Join(flagWords(v.flags[child.name]), " "))
	}
	b.WriteString(`                *) word='' ;;
            esac
            if [[ $cur == -* ]]; then
                COMPREPLY=($(compgen -W "$word" -- "$cur"))
            elif (( COMP_CWORD > 2 )); then
                compopt -o filenames 2>/dev/null
                mapfile -t COMPREPLY < <(compgen -f -- "$cur")
            fi
            (( COMP_CWORD > 1 )) && return ;;
`)
	return b.String()
}

func zshScript(v vocabulary) string {
	var b strings.Builder
	b.WriteString(`#compdef sandbox-run
# zsh completion for sandbox-run; put it in a directory of $fpath as _sandbox-run
_sandbox-run() {
    if (( CURRENT > 2 )); then
        case $words[2] in
            completion) _values shell bash zsh fish; return ;;
`)
	for _, verb := range v.plain() {
		files := ""
		if v.files[verb.name] {
			files = " '*:file:_files'"
		}
		fmt.Fprintf(&b, "            %s) _arguments%s%s; return ;;\n", verb.name, zshFlags(v.flags[verb.name]), files)
	}
	for _, verb := range v.verbs {
		b.WriteString(zshBelow(verb, v))
	}
	b.WriteString(`        esac
    fi
    local -a verbs
    verbs=(
`)
	for _, verb := range v.verbs {
		fmt.Fprintf(&b, "        %s\n", quoted(verb.name+":"+verb.help))
	}
	b.WriteString("    )\n    (( CURRENT == 2 )) && _describe -t verbs verb verbs\n    _arguments \\\n")
	for _, f := range v.flags["run"] {
		fmt.Fprintf(&b, "        %s \\\n", zshFlag(f))
	}
	b.WriteString("        '*:file:_files'\n}\n")
	b.WriteString("if [[ $funcstack[1] == _sandbox-run ]]; then _sandbox-run \"$@\"; else compdef _sandbox-run sandbox-run; fi\n")
	return b.String()
}

// zshBelow completes what follows a verb that is followed by others.
func zshBelow(parent verb, v vocabulary) string {
	if len(parent.verbs) == 0 {
		return ""
	}
	var b strings.Builder
	words := lastWords(parent.verbs)
	fmt.Fprintf(&b, "            %s)\n                (( CURRENT == 3 )) && { _values verb %s; return }\n                case $words[3] in\n", parent.name, strings.Join(words, " "))
	for i, child := range parent.verbs {
		fmt.Fprintf(&b, "                    %s) _arguments%s '*:file:_files' ;;\n", words[i], zshFlags(v.flags[child.name]))
	}
	b.WriteString("                esac\n                return ;;\n")
	return b.String()
}

func zshFlags(flags []completable) string {
	var b strings.Builder
	for _, f := range flags {
		b.WriteString(" " + zshFlag(f))
	}
	return b.String()
}

// zshFlag is one specification of _arguments.
func zshFlag(f completable) string {
	help := strings.NewReplacer(`\`, `\\`, "[", `\[`, "]", `\]`, ":", `\:`).Replace(f.help)
	action := ""
	switch {
	case len(f.values) > 0:
		action = ":value:(" + strings.Join(f.values, " ") + ")"
	case f.files:
		action = ":file:_files"
	case f.takesValue:
		action = ":value: "
	}
	tail := quoted("[" + help + "]" + action)
	if f.short == "" {
		return "'*--" + f.long + "'" + tail
	}
	return fmt.Sprintf("'*'{-%s,--%s}%s", f.short, f.long, tail)
}

func fishScript(v vocabulary) string {
	var b strings.Builder
	b.WriteString(`# fish completion for sandbox-run; load it with
#   sandbox-run completion fish | source
complete -c sandbox-run -n '__fish_seen_subcommand_from completion' -f -a 'bash zsh fish'
`)
	for _, verb := range v.verbs {
		fmt.Fprintf(&b, "complete -c sandbox-run -n __fish_use_subcommand -a %s -d %s\n", verb.name, quoted(verb.help))
		for i, word := range lastWords(verb.verbs) {
			fmt.Fprintf(&b, "complete -c sandbox-run -n '__fish_seen_subcommand_from %s' -a %s -d %s\n", verb.name, word, quoted(verb.verbs[i].help))
		}
	}
	for _, f := range v.flags["run"] {
		line := "complete -c sandbox-run -l " + f.long
		if f.short != "" {
			line += " -s " + f.short
		}
		switch {
		case len(f.values) > 0:
			line += " -x -a " + quoted(strings.Join(f.values, " "))
		case f.files:
			line += " -r -F"
		case f.takesValue:
			line += " -x"
		}
		fmt.Fprintf(&b, "%s -d %s\n", line, quoted(f.help))
	}
	return b.String()
}

// quoted is a word in single quotes, as sh, zsh and fish all read it when it
// holds no single quote itself; one that does is written around.
func quoted(s string) string {
	return "'" + strings.ReplaceAll(s, "'", `'"'"'`) + "'"
}
