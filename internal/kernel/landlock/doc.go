// Package landlock turns a description of what a program may touch into the
// bytes that the kernel's Landlock takes.
//
// It builds data and applies nothing: whoever starts a program makes the system
// calls, in the child, with no_new_privs set, before the seccomp filter:
//
//	fd = landlock_create_ruleset(Ruleset.Attr, len(Ruleset.Attr), 0)
//	for each of Ruleset.Paths:
//		path = open(Path, O_PATH | O_CLOEXEC)
//		landlock_add_rule(fd, RulePathBeneath, PathRule.Attr(path), 0)
//	landlock_restrict_self(fd, 0)
//
// What a kernel knows of Landlock is a number, its ABI, which grows. A right
// that the ruleset handles is denied everywhere but where a rule grants it; one
// that it does not handle, or that the kernel has never heard of, is not denied
// at all. So an older ABI means a weaker wall.
package landlock
