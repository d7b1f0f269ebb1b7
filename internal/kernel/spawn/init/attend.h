// attend.h: processes that are traced for their ends alone (part of init.c).

#ifdef ANCESTOR
static s64 trace(s32 pid) { (void)pid; return -EINVAL_; }
static s64 untrace(s32 pid) { return trace(pid); }
static void attend(s32 pid, s32 status, int known, struct record *r) { (void)pid, (void)status, (void)known, (void)r; }
#else
enum {
#if defined(__x86_64__)
	SYS_ptrace = 101, SYS_exit = 60,
#else
	SYS_ptrace = 117, SYS_exit = 93,
#endif
};

static int attending; // what we wait for is traced, and no child of ours

// trace has a process stop when it ends.
static s64 trace(s32 pid)
{
	int place = room();
	s64 ret = place < 0 ? EAGAIN_ : call(SYS_ptrace, 0x4206 /* PTRACE_SEIZE */, pid, 0, 0x40 /* PTRACE_O_TRACEEXIT */);
	if (ret)
		return ret;
	attending = 1;
	adopt(place, pid);
	return 0;
}

// untrace has a process stop, to go on untraced. One that has gone without a word is told of: the kernel
// says nothing of a main thread in whose place another has executed a program.
static s64 untrace(s32 pid)
{
	if (call(SYS_ptrace, 0x4207 /* PTRACE_INTERRUPT */, pid, 0, 0))
		for (int i = 0; i < used; i++)
			if (children[i] == pid) {
				children[i] = 0;
				report(RECORD_EXIT, 0, pid, STOPPED, 0);
			}
	return 0;
}

// alone tells whether a stopped main thread ends by itself, and others may go on in its place.
static int alone(s32 pid)
{
#if defined(__x86_64__)
	u64 number = SYS_exit;
	call(SYS_ptrace, 3 /* PTRACE_PEEKUSR */, pid, 15 * 8 /* orig_rax */, &number);
#else
	s32 number = SYS_exit;
	struct { u64 base, len; } iov = {(u64)&number, sizeof number};
	call(SYS_ptrace, 0x4204 /* PTRACE_GETREGSET */, pid, 0x404 /* NT_ARM_SYSTEM_CALL */, &iov);
#endif
	return number == SYS_exit;
}

// attend looks after a process that we trace, when it has stopped. One that ends of itself, as a whole, is held, and
// its end told. Whatever else it was, it goes on untraced, as do those that it has had us trace, too
// (CLONE_PTRACE).
static void attend(s32 pid, s32 status, int known, struct record *r)
{
	s32 event = status >> 16;
	u64 code = 0;
	if (known && event == 6 /* PTRACE_EVENT_EXIT */ && !call(SYS_ptrace, 0x4201 /* PTRACE_GETEVENTMSG */, pid, 0, &code) && !(code & 0x7f) && !alone(pid)) {
		report(RECORD_EXIT, EXIT_HELD, pid, code, r);
		return;
	}
	call(SYS_ptrace, 17 /* PTRACE_DETACH */, pid, 0, event ? 0 : status >> 8 & 0xff);
	report(RECORD_EXIT, 0, pid, status, r);
}
#endif
