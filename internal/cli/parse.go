package cli

import (
	"errors"
	"io"
	"reflect"

	"github.com/alecthomas/kong"
)

// newParser reflects over one verb's grammar.
func newParser(grammar any) (*kong.Kong, error) {
	return kong.New(grammar,
		kong.Name("sandbox-run"),
		kong.NoDefaultHelp(),
		kong.Writers(io.Discard, io.Discard),
		kong.KindMapper(reflect.String, kong.MapperFunc(exactString)),
	)
}

// exactString takes a value as it is. Kong's own mapper goes through JSON,
// which replaces bytes that are no UTF-8, and source and file names may have
// such.
func exactString(ctx *kong.DecodeContext, target reflect.Value) error {
	token, err := ctx.Scan.PopValue("string")
	if err == nil {
		target.SetString(token.String())
	}
	return err
}

// parse reads args into grammar. It returns what followed --, and whether help
// was asked for.
func parse(grammar any, args []string) (after []string, help bool, err error) {
	parser, err := newParser(grammar)
	if err != nil {
		return nil, false, err
	}
	own, after, help := splitArgs(args, parser.Model.Flags)
	if help {
		return nil, true, nil
	}
	if _, err := parser.Parse(own); err != nil {
		return nil, false, usageError{err}
	}
	return after, false, nil
}

// splitArgs separates our arguments from those that follow --, and finds
// --help, both not where they are a flag's value. Each value is joined to its
// flag, so that one that begins with a hyphen is not taken for a flag.
func splitArgs(args []string, flags []*kong.Flag) (own, after []string, help bool) {
	for i := 0; i < len(args); i++ {
		arg := args[i]
		switch name, takes := valueFlag(flags, arg); {
		case arg == "--":
			return own, args[i+1:], help
		case arg == "--help" || arg == "-h":
			help = true
		case takes && i+1 < len(args):
			i++
			own = append(own, "--"+name+"="+args[i])
		default:
			own = append(own, arg)
		}
	}
	return own, nil, help
}

// valueFlag tells whether arg is a flag whose value is the next argument, and
// the flag's long name.
func valueFlag(flags []*kong.Flag, arg string) (name string, takes bool) {
	for _, f := range flags {
		if !f.IsBool() && (arg == "--"+f.Name || f.Short != 0 && arg == "-"+string(f.Short)) {
			return f.Name, true
		}
	}
	return "", false
}

// parseVerb reads the flags of a verb that runs no program, so nothing follows --.
func (a *app) parseVerb(verb string, flags any, args []string) (help bool, err error) {
	after, help, err := parse(flags, args)
	if err == nil && help {
		err = a.help(verb)
	}
	if err == nil && len(after) > 0 {
		err = usageError{errors.New(verb + " takes no arguments after --")}
	}
	return help, err
}
