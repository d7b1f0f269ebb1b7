// tree.h: the end of everything below a server that is no pid 1 (part of init.c).

static s32 tree[TREE_MAX]; // the descendants that killtree has found
static int grown;

static u8 *append(u8 *to, const char *from)
{
	while (*from)
		*to++ = *from++;
	*to = 0;
	return to;
}

static u8 *append_number(u8 *to, u32 n)
{
	if (n > 9)
		to = append_number(to, n / 10);
	*to++ = '0' + n % 10;
	*to = 0;
	return to;
}

// each calls found for every number at the beginning of a word of a file, or of a
// directory's names.
static void each(const u8 *path, int directory, void (*found)(s32 number, s32 of), s32 of)
{
	u8 part[2048] __attribute__((aligned(8)));
	s64 fd = call(SYS_openat, -100, path, directory ? 0x90000 : 0x80000, 0); // CLOEXEC | DIRECTORY
	s64 n;
	s32 number = 0; // one that the end of a part has cut goes on in the next
	if (fd < 0)
		return;
	while ((n = directory ? call(SYS_getdents64, fd, part, sizeof part, 0) : call(SYS_read, fd, part, sizeof part, 0)) > 0) {
		for (s64 i = 0; i < n;) {
			// struct linux_dirent64: inode, offset (8 bytes each), length (2), type, name.
			u8 *name = directory ? part + i + 19 : part + i;
			s64 next = directory ? i + *(u16 *)(part + i + 16) : i + 1;
			do {
				if (*name >= '0' && *name <= '9') {
					number = number * 10 + (*name - '0');
				} else {
					if (number > 1)
						found(number, of);
					number = 0;
				}
			} while (directory && *name++);
			i = next;
		}
	}
	call(SYS_close, fd, 0, 0, 0);
}

// seize stops a process, so that it neither forks nor buries its children, and
// remembers it.
static void seize(s32 pid, s32 of)
{
	(void)of;
	call(SYS_kill, pid, 19, 0, 0);
	if (grown < TREE_MAX)
		tree[grown++] = pid;
}

// seize_children does that to the children that one thread of a process has.
static void seize_children(s32 thread, s32 process)
{
	u8 path[64];
	append(append_number(append(append_number(append(path, "/proc/"), process), "/task/"), thread), "/children");
	each(path, 0, seize, 0);
}

// killtree kills every descendant of a process that is their subreaper and not
// the first of a pid namespace, until none is left. Each is stopped before its children
// are looked up, and all of them are killed together: who kills only its own children,
// which leave theirs to it, is too slow for a program whose last child forks whenever
// there is room for one more.
static void killtree(void)
{
	u64 before = 0;
	for (;;) {
		u64 now = 0;
		u8 path[64];
		grown = 0;
		each((const u8 *)"/proc/thread-self/children", 0, seize, 0);
		for (int i = 0; i < grown; i++) {
			append(append_number(append(path, "/proc/"), tree[i]), "/task");
			each(path, 1, seize_children, tree[i]);
		}
		for (int i = 0; i < grown; i++) {
			call(SYS_kill, tree[i], 9, 0, 0);
			now = now * 31 + tree[i];
		}
		if (reap() < 0) // ECHILD, and no empty list: a file may not have opened
			return;
		if (now == before) { // they are dying
			struct { s64 s, ns; } moment = {0, 1000000};
			call6(SYS_ppoll, 0, 0, (u64)&moment, 0, 8, 0);
		}
		before = now;
	}
}
