package seccomp

// Attributes says what becomes of calls that change who owns a file, who may open
// it and its times. Landlock does not watch them (landlock(7)), so they
// reach every file of the program's user id, wherever it lies.
type Attributes int

const (
	// AttributesFree lets them pass: what this user id owns is the run's.
	AttributesFree Attributes = iota
	// AttributesSupervised has whoever serves the filter's listener change them.
	AttributesSupervised
	// TimesSupervised has it change times alone, and lets the others pass: who may write
	// to a file may set its times to the present, whoever owns it.
	TimesSupervised
	// AttributesRefused refuses all of them.
	AttributesRefused
)

// Values of open(2) and chmod(2): asm-generic/fcntl.h and linux/stat.h. They are
// the same on amd64 and arm64.
const (
	openAccess  = 0o3 // O_ACCMODE
	openWrite   = 0o1
	openBoth    = 0o2
	openNeither = 0o3 // open(2): for ioctl alone
	openCreate  = 0o100
	openTrunc   = 0o1000
	openTmpfile = 0o20000000 // without O_DIRECTORY, which it includes

	setUserID  = 0o4000
	setGroupID = 0o2000
)

// files are the calls that reach further on the host's file systems than on a root
// of one's own.
func files(opts Options) []Rule {
	opened, shortened := Allow, Allow
	var rules []Rule
	if opts.Restricted {
		opened = Fail(ENOSYS)
		rules = append(privilegedFiles(), controlOnly()...)
	}
	if opts.TruncationUnwatched {
		shortened = Fail(EACCES)
		rules = append(rules, truncation()...)
	}
	rules = append(rules,
		Rule{
			Why: "how a file is opened is in memory, where a filter cannot see it; who uses it falls " +
				"back on openat where that matters",
			Names: []string{"openat2"}, Action: opened,
		},
		Rule{Why: "shortens files, where Landlock does not watch also those that it closes", Names: []string{"truncate"}, Action: shortened})
	return append(rules, attributes(opts)...)
}

// privilegedFiles refuses files that run as their owner. The workspace is on a
// file system of the host's then, where another user could execute one and be who
// runs the sandbox.
func privilegedFiles() []Rule {
	has := func(arg int, bits uint64) Condition { return Not(MaskedEqual(arg, bits, 0)) }
	refuse := func(argMode int, names []string, when ...Condition) Rule {
		return Rule{
			Why: "files that run as their owner, open to other users of the host", Names: names, Action: Fail(EPERM),
			When: append(when, has(argMode, setUserID|setGroupID)),
		}
	}
	const makes = openCreate | openTmpfile // the mode means nothing without
	return []Rule{
		refuse(1, []string{"chmod", "fchmod", "creat", "mknod"}),
		refuse(2, []string{"fchmodat", "fchmodat2", "mknodat"}),
		refuse(2, []string{"open"}, has(1, makes)),
		refuse(3, []string{"openat"}, has(2, makes)),
	}
}

// controlOnly refuses to open files neither to be read nor to be written. Landlock
// asks for no right then, so that is how a program has other terminals of its user,
// whose ioctl it does not watch before its fifth version.
func controlOnly() []Rule {
	refuse := func(argFlags int, name string) Rule {
		return Rule{
			Why: "files that Landlock closes, opened for ioctl", Names: []string{name}, Action: Fail(EINVAL),
			When: []Condition{MaskedEqual(argFlags, openAccess, openNeither)},
		}
	}
	return []Rule{refuse(1, "open"), refuse(2, "openat")}
}

// truncation refuses to shorten what is not opened to be written, which is what
// Landlock watches from its third version on.
func truncation() []Rule {
	refuse := func(argFlags int, name string) Rule {
		return Rule{
			Why: "shortens files that Landlock closes to the program", Names: []string{name}, Action: Fail(EACCES),
			When: []Condition{
				MaskedEqual(argFlags, openTrunc, openTrunc),
				Not(MaskedEqual(argFlags, openAccess, openWrite)),
				Not(MaskedEqual(argFlags, openAccess, openBoth)),
			},
		}
	}
	return []Rule{refuse(1, "open"), refuse(2, "openat")}
}

// attributes decides about calls that change more than a file's content.
func attributes(opts Options) []Rule {
	change, date, extended := Allow, Allow, Allow
	switch opts.Attributes {
	case AttributesSupervised:
		change, date = UserNotify, UserNotify
	case TimesSupervised:
		date = UserNotify
	case AttributesRefused:
		change, date = Fail(EPERM), Fail(EPERM)
	}
	if opts.Restricted {
		extended = Fail(EOPNOTSUPP)
	}
	return append(controls(opts), Rule{
		Why:    "modes and owners: of every file of the program's user, if nobody decides",
		Names:  []string{"chmod", "fchmod", "fchmodat", "fchmodat2", "chown", "lchown", "fchown", "fchownat"},
		Action: change,
	}, Rule{
		Why:    "times: also of files that the program's user may write to, if nobody decides",
		Names:  []string{"utime", "utimes", "futimesat", "utimensat"},
		Action: date,
	}, Rule{
		Why: "extended attributes, access lists among them, of the host's files, where no limit counts " +
			"them; programs go on where a file system has none",
		Names: []string{
			"setxattr", "lsetxattr", "fsetxattr", "setxattrat",
			"removexattr", "lremovexattr", "fremovexattr", "removexattrat",
		},
		Action: extended,
	})
}

// controls leaves ioctl to terminals, pipes and sockets where there are the host's
// file systems: others change files that are open to be read (flags, encryption,
// verity), or make what cannot be removed (subvolumes).
func controls(opts Options) []Rule {
	const (
		kind    = 0xff00 // _IOC_TYPE, asm-generic/ioctl.h
		tty     = 'T' << 8
		sockets = 0x89 << 8 // linux/sockios.h
	)
	names := []string{"ioctl"}
	if !opts.Restricted {
		return []Rule{{Why: "what devices and file systems have beside", Names: names, Action: Allow}}
	}
	var rules []Rule
	for _, k := range []uint64{tty, sockets} {
		rules = append(rules, Rule{Why: "terminals, pipes and sockets", Names: names, Action: Allow,
			When: []Condition{MaskedEqual(1, kind, k)}})
	}
	return append(rules, Rule{Why: "flags of files, and what else file systems have", Names: names, Action: Fail(ENOTTY)})
}
