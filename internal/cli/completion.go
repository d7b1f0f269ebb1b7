package cli

import (
	"errors"
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
	after, help, err := parse(f, args)
	if err != nil || help {
		if help {
			err = a.help("completion")
		}
		return exitOK, err
	}
	if len(after) > 0 {
		return 0, usageError{errors.New("completion takes the name of one shell")}
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
	run   []completable
	list  []completable
	// below are the flags of the verbs that follow another, by their whole name.
	below map[string][]completable
}

func completionWords() (vocabulary, error) {
	v := vocabulary{verbs: shownVerbs(), below: map[string][]completable{}}
	names := []string{execLanguage}
	for _, lang := range language.All() {
		info := lang.Info()
		names = append(append(names, info.Name), info.Aliases...)
	}
	slices.Sort(names)
	names = slices.Compact(names)
	var err error
	if v.run, err = completables("run", names); err != nil {
		return v, err
	}
	if v.list, err = completables("languages", names); err != nil {
		return v, err
	}
	for _, parent := range v.verbs {
		for _, child := range parent.verbs {
			if v.below[child.name], err = completables(child.name, names); err != nil {
				return v, err
			}
		}
	}
	return v, nil
}

// completables are the flags of a verb.
func completables(name string, languages []string) ([]completable, error) {
	found, _ := findVerb(name)
	groups, _, err := grammarOf(found)
	var flags []completable
	for _, g := range groups {
		for _, f := range g.flags {
			flags = append(flags, newCompletable(f, languages))
		}
	}
	return append(flags, completable{short: "h", long: "help", help: "Show the help page."}), err
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
	fmt.Fprintf(&b, "        languages|doctor|gc|version) COMPREPLY=($(compgen -W '%s' -- \"$cur\")); (( COMP_CWORD > 1 )) && return ;;\n",
		strings.Join(flagWords(v.list), " "))
	b.WriteString("        completion) COMPREPLY=($(compgen -W 'bash zsh fish' -- \"$cur\")); (( COMP_CWORD > 1 )) && return ;;\n")
	for _, verb := range v.verbs {
		b.WriteString(bashBelow(verb, v))
	}
	b.WriteString("    esac\n    case $prev in\n")
	for _, f := range v.run {
		switch {
		case len(f.values) > 0:
			fmt.Fprintf(&b, "        %s) COMPREPLY=($(compgen -W '%s' -- \"$cur\")); return ;;\n", f.pattern(), strings.Join(f.values, " "))
		case f.files:
			fmt.Fprintf(&b, "        %s) compopt -o filenames 2>/dev/null; mapfile -t COMPREPLY < <(compgen -f -- \"$cur\"); return ;;\n", f.pattern())
		case f.takesValue:
			fmt.Fprintf(&b, "        %s) return ;;\n", f.pattern())
		}
	}
	fmt.Fprintf(&b, `    esac
    if [[ $cur == -* ]]; then
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
`, strings.Join(flagWords(v.run), " "), verbNames(v.verbs))
	return b.String()
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
		fmt.Fprintf(&b, "                %s) word='%s' ;;\n", lastWords(parent.verbs)[i], strings.Join(flagWords(v.below[child.name]), " "))
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
            languages|doctor|gc|version) _arguments '--json[Print JSON.]' '(-h --help)'{-h,--help}'[Show the help page.]'; return ;;
            completion) _values shell bash zsh fish; return ;;
`)
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
	for _, f := range v.run {
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
		fmt.Fprintf(&b, "                    %s) _arguments", words[i])
		for _, f := range v.below[child.name] {
			b.WriteString(" " + zshFlag(f))
		}
		b.WriteString(" '*:file:_files' ;;\n")
	}
	b.WriteString("                esac\n                return ;;\n")
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
	for _, f := range v.run {
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
