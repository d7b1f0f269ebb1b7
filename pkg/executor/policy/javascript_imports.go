package policy

import "slices"

// jsReader finds imports among tokens.
type jsReader struct {
	*source
	file   string
	l      *jsLexer
	ahead  []jsToken // what was read too early, the next one first
	before jsToken   // the token before the one that next has returned
	last   jsToken
}

// scanJavaScript reads import and export declarations, import() and require() of a
// constant, and Node's other names for require.
func scanJavaScript(name string, code []byte) *source {
	r := jsReader{source: newSource(), file: name, l: newJSLexer(code)}
	for t := r.next(); t.kind != jsEnd; t = r.next() {
		if t.kind != jsWord {
			continue
		}
		member := r.before.text == "." && r.before.kind == jsPunctuation
		switch t.text {
		case "import":
			if !member {
				r.importing()
			}
		case "export":
			if !member {
				r.exporting()
			}
		case "require", "getBuiltinModule": // also as module.require
			r.call()
		case "binding": // of process
			if member {
				r.call()
			}
		}
	}
	return r.source
}

func (r *jsReader) next() jsToken {
	r.before = r.last
	if len(r.ahead) > 0 {
		r.last, r.ahead = r.ahead[0], r.ahead[1:]
	} else {
		r.last = r.l.next()
	}
	return r.last
}

// back puts tokens back that were read behind the one before, in their order.
func (r *jsReader) back(anchor jsToken, tokens ...jsToken) {
	r.ahead = append(slices.Clone(tokens), r.ahead...)
	r.last = anchor
}

func (t jsToken) is(text string) bool { return t.kind == jsPunctuation && t.text == text }

// importing reads what follows the word import: a module, or ( and a module, or what
// is imported of it, and from.
func (r *jsReader) importing() {
	word := r.last
	t := r.next()
	switch {
	case t.kind == jsString:
		r.found(t)
	case t.is("("), t.is("."): // import.defer(), import.source()
		r.back(word, t)
		r.call()
	default:
		r.back(word, t)
		r.from()
	}
}

// exporting reads export … from.
func (r *jsReader) exporting() {
	word := r.last
	t := r.next()
	r.back(word, t)
	if t.is("*") || t.is("{") {
		r.from()
	}
}

// from reads names and braces up to from and a module. A token that cannot be there
// ends it and is looked at again.
func (r *jsReader) from() {
	for {
		before := r.last
		t := r.next()
		switch {
		case t.kind == jsString && before.kind == jsWord && before.text == "from":
			r.found(t)
			return
		case t.kind == jsWord && t.text != "import" && t.text != "export" && t.text != "require", t.kind == jsString, t.is("{"), t.is("}"), t.is(","), t.is("*"):
		default:
			r.back(before, t)
			return
		}
	}
}

// call reads an argument list that begins with a constant: a string, or strings
// with + between.
func (r *jsReader) call() {
	for t := r.next(); ; t = r.next() {
		if t.is("(") {
			break
		}
		between := t.is("?") || t.is(".") || t.kind == jsWord && (t.text == "defer" || t.text == "source")
		if !between {
			r.back(r.before, t)
			return
		}
	}
	module := jsToken{}
	for {
		t := r.next()
		if t.kind != jsString {
			r.back(r.before, t)
			return
		}
		module.text, module.line = clip(module.text+t.text), t.line
		switch t = r.next(); {
		case t.is("+"):
		case t.is(")"), t.is(","):
			r.found(module)
			r.back(r.before, t)
			return
		default:
			r.back(r.before, t)
			return
		}
	}
}

func (r *jsReader) found(module jsToken) { r.add(module.text, r.file, module.line) }
