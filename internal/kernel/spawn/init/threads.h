// threads.h: an interpreter that is forked with its threads.
//
// fork(2) gives a child the calling thread alone, with the memory of all. So each other thread of an
// ancestor is stopped for good, wherever it is, by a signal whose handler never returns there. In
// a child a thread is made for each, which leaves that handler in the place of the one that was
// stopped: on its stack, with its new number where the C library keeps the old one, and makes the
// call again that it was waiting in. Whoever has them stopped sees to it that they are at rest: a
// lock that knows its holder by the number would not know it any more.
//
// The signal is one of those that C libraries keep for themselves, and so never block.

enum {
	THREADS_MAX = 64,
	SIGNAL = 33,
	CLONE_AS_THREAD = 0x3d0f00, // as pthread_create: VM, FS, FILES, SIGHAND, THREAD, SYSVSEM, SETTLS, PARENT_SETTID, CHILD_CLEARTID
	CLONE_AS_FORK = 0x1200011,  // as fork: CHILD_SETTID, CHILD_CLEARTID, SIGCHLD

#if defined(__x86_64__)
	SYS_futex = 202, SYS_tgkill = 234, SYS_gettid = 186, SYS_clone = 56, SYS_rseq = 334,
	SYS_set_robust_list = 273, SYS_get_robust_list = 274,
#else
	SYS_futex = 98, SYS_tgkill = 131, SYS_gettid = 178, SYS_clone = 220, SYS_rseq = 293,
	SYS_set_robust_list = 99, SYS_get_robust_list = 100,
#endif
};

extern const unsigned __rseq_size __attribute__((weak));
extern const s64 __rseq_offset __attribute__((weak));

// thread is what the kernel knows of one, and memory does not.
static struct thread {
	s32 *number;    // where the C library has it, and the kernel clears it at the end
	void *robust;   // the locks that it would leave behind
	u64 robust_size;
	u8 name[16];
	u8 *pointer;    // to what is the thread's own
	void *there[5]; // where it goes on, see __builtin_setjmp
} threads[THREADS_MAX]; // the first is who forks

static u32 stopping, stopped; // how many others
static struct { void (*handler)(int); u64 flags; void (*restorer)(void); u64 mask; } before; // what SIGNAL does else

static u8 *thread_pointer(void)
{
	u8 *pointer;
#if defined(__x86_64__)
	__asm__("mov %%fs:0,%0" : "=r"(pointer));
#else
	__asm__("mrs %0,tpidr_el0" : "=r"(pointer));
#endif
	return pointer;
}

// remember has the kernel keep the C library's restartable sequences up to date (rseq(2), of
// glibc 2.35), which a process or thread that shares its memory with another has not at first.
static void remember(void)
{
#if defined(__x86_64__)
	u32 signature = 0x53053053;
#else
	u32 signature = 0xd428bc00;
#endif
	if (&__rseq_size && __rseq_size)
		call(SYS_rseq, thread_pointer() + __rseq_offset, (__rseq_size + 31) & ~31U, 0, signature);
}

// note writes down who calls, or ends the process: where a C library keeps the number elsewhere
// (musl), a child could not have it.
static void note(struct thread *t)
{
	t->pointer = thread_pointer();
	call(SYS_get_robust_list, 0, &t->robust, &t->robust_size, 0);
	call(SYS_prctl, 16 /* PR_GET_NAME */, t->name, 0, 0);
	if (call(SYS_prctl, 40 /* PR_GET_TID_ADDRESS */, &t->number, 0, 0) || *t->number != call(SYS_gettid, 0, 0, 0, 0))
		quit(126);
}

// recall tells the kernel of a child what was written down of the one in whose place it is.
static void recall(struct thread *t)
{
	call(SYS_set_robust_list, t->robust, t->robust_size, 0, 0);
	call(SYS_prctl, 15 /* PR_SET_NAME */, t->name, 0, 0);
	remember();
}

// stop is the handler. It returns in children.
static void stop(int signal)
{
	struct thread *t = &threads[__atomic_add_fetch(&stopping, 1, __ATOMIC_SEQ_CST)];
	(void)signal;
	if (__builtin_setjmp(t->there)) {
		for (t = threads; t->pointer != thread_pointer();)
			t++;
		recall(t);
		return;
	}
	note(t);
	__atomic_add_fetch(&stopped, 1, __ATOMIC_SEQ_CST);
	call(SYS_futex, &stopped, 1 /* FUTEX_WAKE */, 1, 0);
	for (;;)
		call(SYS_ppoll, 0, 0, 0, 0);
}

void restore(void); // what the handler returns to
#if defined(__x86_64__)
__asm__(".hidden restore\n.globl restore\nrestore:\n\tmov $15,%eax\n\tsyscall\n");
#else
__asm__(".hidden restore\n.globl restore\nrestore:\n\tmov x8,#139\n\tsvc 0\n");
#endif

// stop_others stops the threads of these numbers, which are all but the caller.
static s64 stop_others(s32 *numbers, u64 n)
{
	typeof(before) action = {stop, 0x14000000 /* SA_RESTORER | SA_RESTART */, restore, ~0UL};
	if (PyOS_BeforeFork || stopped || n >= THREADS_MAX) // CPython forks as libc does
		return -EINVAL_;
	note(threads);
	call(SYS_rt_sigaction, SIGNAL, &action, &before, 8);
	for (u64 i = 0; i < n; i++) {
		s64 ret = call(SYS_tgkill, call(SYS_getpid, 0, 0, 0, 0), numbers[i], SIGNAL, 0);
		if (ret)
			return ret;
	}
	for (u32 so_far; (so_far = __atomic_load_n(&stopped, __ATOMIC_SEQ_CST)) < n;)
		call(SYS_futex, &stopped, 0 /* FUTEX_WAIT */, so_far, 0);
	return 0;
}

// fork_alone is fork(2) with nothing that a C library does beside it, for which all threads but the
// caller would be gone.
static s64 fork_alone(void)
{
#if defined(__x86_64__)
	return call6(SYS_clone, CLONE_AS_FORK, 0, 0, (u64)threads->number, 0, 0);
#else
	return call6(SYS_clone, CLONE_AS_FORK, 0, 0, 0, (u64)threads->number, 0);
#endif
}

static __attribute__((noreturn, used)) void land(struct thread *t) { __builtin_longjmp(t->there, 1); }

// resume makes a thread in the place of one that was stopped. It comes up below what that has on
// its stack.
static s64 resume(struct thread *t)
{
	u64 stack = ((u64)t->there[2] - 512) & ~15UL;
#if defined(__x86_64__)
	register s32 *r10 __asm__("r10") = t->number;
	register u8 *r8 __asm__("r8") = t->pointer;
	register struct thread *r12 __asm__("r12") = t;
	s64 ret;
	__asm__ volatile("syscall\n\ttest %%rax,%%rax\n\tjnz 1f\n\txor %%ebp,%%ebp\n\tmov %%r12,%%rdi\n\tcall land\n\thlt\n1:"
			 : "=a"(ret) : "a"((s64)SYS_clone), "D"((u64)CLONE_AS_THREAD), "S"(stack), "d"(t->number), "r"(r10), "r"(r8), "r"(r12)
			 : "rcx", "r11", "memory");
	return ret;
#else
	register s64 x8 __asm__("x8") = SYS_clone;
	register s64 x0 __asm__("x0") = CLONE_AS_THREAD;
	register u64 x1 __asm__("x1") = stack;
	register s32 *x2 __asm__("x2") = t->number;
	register u8 *x3 __asm__("x3") = t->pointer;
	register s32 *x4 __asm__("x4") = t->number;
	register struct thread *x19 __asm__("x19") = t;
	__asm__ volatile("svc 0\n\tcbnz x0,1f\n\tmov x29,#0\n\tmov x0,x19\n\tbl land\n\tbrk #0\n1:"
			 : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x19) : "memory");
	return x0;
#endif
}

// resume_others has a child go on with as many threads as its ancestor.
static s64 resume_others(void)
{
	recall(threads);
	s64 ret = call(SYS_rt_sigaction, SIGNAL, &before, 0, 8);
	for (u32 i = 1; i <= stopped && ret >= 0; i++)
		ret = resume(&threads[i]);
	return ret;
}
