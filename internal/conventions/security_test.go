package conventions

import (
	"go/ast"
	"strings"
)

// securityRules have the shape of mistakes that broke into other sandboxes. The
// names after each "why" are where it happened.
func securityRules() []rule {
	return []rule{
		{
			name:   "descriptors are opened with CLOEXEC",
			why:    "a descriptor of the host that a program inherits is a way out (runc CVE-2024-21626)",
			bad:    "package p\n\nfunc f() { unix.Openat(dir, name, unix.O_RDONLY, 0) }\n",
			good:   "package p\n\nfunc f() { flags := unix.O_RDONLY | unix.O_CLOEXEC; unix.Openat(dir, name, flags, 0) }\n",
			findGo: inheritableDescriptors,
		},
		{
			name:   "nothing is read without a bound",
			why:    "what a program or a client sends decides how much memory we take; put an io.LimitReader inside io.ReadAll",
			bad:    "package p\n\nfunc f() { io.ReadAll(r) }\n",
			good:   "package p\n\nfunc f() { io.ReadAll(io.LimitReader(r, 10)) }\n",
			findGo: unboundedReads,
		},
		{
			name:   "no shell gets a command that was put together",
			why:    "what is spliced into a command is run as one (Judge0 CVE-2024-29021); pass arguments behind a constant script",
			bad:    "package p\n\nfunc f(s string) { exec.Command(\"sh\", \"-c\", \"ls \"+s) }\n",
			good:   "package p\n\nfunc f(s string) { exec.Command(\"sh\", \"-c\", `ls -- \"$1\"`, \"sh\", s) }\n",
			findGo: splicedShell,
		},
		{
			name:   "no pid is written to cgroup.procs",
			why:    "a pid may belong to another process by then, and the kernel waits for a grace period of RCU; a child is born in its group, or its thread writes 0",
			bad:    "package p\n\nfunc f() { os.WriteFile(dir+\"/cgroup.procs\", []byte(strconv.Itoa(pid)), 0) }\n",
			good:   "package p\n\nfunc f() { d.write(dir+\"/cgroup.procs\", \"0\") }\n",
			findGo: writtenPIDs,
		},
		{
			name:   "cleaning up is waited for",
			why:    "a slot that is free before its cleanup has ended mixes two runs (Piston's box ids)",
			bad:    "package p\n\nfunc f() { go c.Delete(ctx) }\n",
			good:   "package p\n\nfunc f() { defer c.Delete(ctx); go c.loop() }\n",
			findGo: forgottenCleanup,
		},
		{
			name:   "no cgo",
			why:    "one static binary that runs on every distribution, and no C in the process that is root",
			bad:    "package p\n\nimport \"C\"\n",
			good:   "package p\n\nimport \"os\"\n",
			findGo: cgo,
		},
		{
			name:   "nothing is linked by name to what other packages hide",
			why:    "it breaks the memory safety that the rest stands on, and with each release of Go",
			bad:    "package p\n\nimport _ \"unsafe\"\n\n//go:linkname f runtime.f\nfunc f()\n",
			good:   "package p\n\n// go:linkname is not used here.\nfunc f() {}\n",
			findGo: linknames,
		},
	}
}

// inheritableDescriptors finds calls that make a descriptor and neither say
// CLOEXEC nor take their flags from a name that was set with it.
func inheritableDescriptors(f *goFile) []finding {
	const makers = " Open Openat Socket Socketpair Pipe2 Accept4 MemfdCreate Eventfd EpollCreate1 InotifyInit1 Dup3 "
	if f.isTestCode() {
		return nil
	}
	var found []finding
	for _, decl := range f.syntax.Decls {
		flags := namesSetWith(decl, "CLOEXEC")
		eachCall(decl, func(call *ast.CallExpr) {
			name, ok := strings.CutPrefix(qualifiedName(call.Fun), "unix.")
			if !ok || !strings.Contains(makers, " "+name+" ") || mentionsAny(call, append(flags, "CLOEXEC")) {
				return
			}
			found = append(found, finding{f.line(call.Pos()), "unix." + name + " without CLOEXEC"})
		})
	}
	return found
}

// namesSetWith are the variables of decl whose first value mentions part.
func namesSetWith(decl ast.Node, part string) []string {
	var names []string
	ast.Inspect(decl, func(n ast.Node) bool {
		if a, ok := n.(*ast.AssignStmt); ok && len(a.Lhs) == 1 && mentions(a.Rhs[0], part) {
			if id, ok := a.Lhs[0].(*ast.Ident); ok {
				names = append(names, id.Name)
			}
		}
		return true
	})
	return names
}

func mentionsAny(call *ast.CallExpr, parts []string) bool {
	for _, arg := range call.Args {
		for _, part := range parts {
			if mentions(arg, part) {
				return true
			}
		}
	}
	return false
}

func unboundedReads(f *goFile) []finding {
	if f.isTestCode() {
		return nil
	}
	var found []finding
	eachCall(f.syntax, func(call *ast.CallExpr) {
		if qualifiedName(call.Fun) != "io.ReadAll" || len(call.Args) != 1 {
			return
		}
		bound, ok := call.Args[0].(*ast.CallExpr)
		if !ok || qualifiedName(bound.Fun) != "io.LimitReader" && qualifiedName(bound.Fun) != "http.MaxBytesReader" {
			found = append(found, finding{f.line(call.Pos()), "io.ReadAll without io.LimitReader"})
		}
	})
	return found
}

// splicedShell finds "-c" with anything but one constant behind it, in calls
// and in lists of arguments.
func splicedShell(f *goFile) []finding {
	if f.isTestCode() {
		return nil
	}
	var found []finding
	check := func(list []ast.Expr) {
		for i, arg := range list {
			if isString(arg, "-c") && i > 0 && mentions(list[i-1], "sh") && i+1 < len(list) && !isConstant(list[i+1]) {
				found = append(found, finding{f.line(arg.Pos()), "a shell's -c gets more than a constant"})
			}
		}
	}
	ast.Inspect(f.syntax, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			check(n.Args)
		case *ast.CompositeLit:
			check(n.Elts)
		}
		return true
	})
	return found
}

// isConstant tells a literal or a plain name, which here is a constant's.
func isConstant(e ast.Expr) bool {
	switch e.(type) {
	case *ast.BasicLit, *ast.Ident:
		return true
	}
	return false
}

func writtenPIDs(f *goFile) []finding {
	if f.isTestCode() {
		return nil
	}
	var found []finding
	eachCall(f.syntax, func(call *ast.CallExpr) {
		name := strings.ToLower(calleeName(call))
		if !strings.Contains(name, "write") || !mentionsAny(call, []string{"cgroup.procs"}) {
			return
		}
		for _, arg := range call.Args {
			if isString(arg, "0") {
				return
			}
		}
		found = append(found, finding{f.line(call.Pos()), "cgroup.procs gets something else than 0"})
	})
	return found
}

func forgottenCleanup(f *goFile) []finding {
	const cleanups = " Delete Close Remove RemoveAll Release Reclaim Unmount Kill "
	var found []finding
	ast.Inspect(f.syntax, func(n ast.Node) bool {
		if g, ok := n.(*ast.GoStmt); ok && !f.isTestCode() && strings.Contains(cleanups, " "+calleeName(g.Call)+" ") {
			found = append(found, finding{f.line(g.Pos()), calleeName(g.Call) + " runs in the background and nobody waits for it"})
		}
		return true
	})
	return found
}

func cgo(f *goFile) []finding {
	for _, spec := range f.syntax.Imports {
		if isString(spec.Path, "C") {
			return []finding{{f.line(spec.Pos()), `import "C"`}}
		}
	}
	return nil
}

func linknames(f *goFile) []finding {
	var found []finding
	for _, group := range f.syntax.Comments {
		for _, c := range group.List {
			if strings.HasPrefix(c.Text, "//go:"+"linkname ") {
				found = append(found, finding{f.line(c.Pos()), c.Text})
			}
		}
	}
	return found
}
