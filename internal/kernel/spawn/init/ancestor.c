// ancestor.c: an interpreter that forks itself into containers.
//
// CPython loads this as a module once it waits for its work, with a socket on descriptor 3 that
// messages come from as to every server (init.c). It never ends as a module: a message has it
// enter the pid namespace of a container and beget a child there, which enters the rest, takes
// on all that stands around a program, and goes on as the interpreter, with its work to wait
// for. The container's init becomes its parent.
//
// What CPython and libc have to do at a fork is done: before and after by theirs.

#define ANCESTOR
#include "init.c"

typedef void *object;
extern int fork(void);
extern object PyExc_ImportError;
extern void PyErr_SetNone(object);
extern const unsigned __rseq_size __attribute__((weak));
extern const s64 __rseq_offset __attribute__((weak));
extern void PyOS_BeforeFork(void) __attribute__((weak)); // CPython 3.7
extern void PyOS_AfterFork_Parent(void) __attribute__((weak));
extern void PyOS_AfterFork_Child(void) __attribute__((weak));

#define CLONE_INTO_CGROUP_ 0x200000000UL

enum {
	CLONE_VM_ = 0x100, CLONE_VFORK_ = 0x4000, SIGCHLD_ = 17, SYS_clone3 = 435,
#if defined(__x86_64__)
	SYS_rseq = 334,
#else
	SYS_rseq = 293,
#endif
};

static void *home[5], *born[5];                          // where a child goes on, see __builtin_setjmp
static u8 parent_stack[64 << 10] __attribute__((aligned(16)));
static s64 child; // its number in the namespace that it is born in

// parent lives from the entry into the pid namespace until it has forked, and leaves its child to
// that namespace's first then. It has its memory in common with the ancestor, who waits: so it
// costs no fork. Nobody waits for the child, which has a lock of the kernel's to wait for.
static __attribute__((noreturn, used)) void parent(void)
{
	child = fork();
	if (!child)
		__builtin_longjmp(born, 1);
	quit(0);
}

// conceive starts the parent, and returns when it has ended. It takes a number that no program
// has so early, so that its child has the first one behind init, as others. Both are born in a
// control group of version 2, if that is not negative: to move there holds up every fork and end
// on the machine for a grace period of RCU.
static s64 conceive(s64 cgroup)
{
	static s32 number = 299;
	static struct { u64 flags, pidfd, child_tid, parent_tid, signal, stack, size, tls, set_tid, set_tids, cgroup; } how;
	how.flags = CLONE_VM_ | CLONE_VFORK_ | (cgroup < 0 ? 0 : CLONE_INTO_CGROUP_);
	how.cgroup = cgroup < 0 ? 0 : cgroup;
	how.signal = SIGCHLD_;
	how.stack = (u64)parent_stack;
	how.size = sizeof parent_stack;
	how.set_tid = (u64)&number;
	how.set_tids = 1;
#if defined(__x86_64__)
	s64 ret;
	__asm__ volatile("syscall\n\ttest %%rax,%%rax\n\tjnz 1f\n\txor %%ebp,%%ebp\n\tcall parent\n\thlt\n1:"
			 : "=a"(ret) : "a"((s64)SYS_clone3), "D"(&how), "S"(sizeof how) : "rcx", "r11", "memory");
	return ret;
#else
	register s64 x8 __asm__("x8") = SYS_clone3;
	register s64 x0 __asm__("x0") = (s64)&how;
	register s64 x1 __asm__("x1") = sizeof how;
	__asm__ volatile("svc #0\n\tcbnz x0,1f\n\tmov x29,#0\n\tbl parent\n\tbrk #0\n1:" : "+r"(x0) : "r"(x8), "r"(x1) : "memory");
	return x0;
#endif
}

static s64 beget(s64 cgroup)
{
	s32 status = 1;
	if (__builtin_setjmp(born))
		return 0;
	child = 0;
	PyOS_BeforeFork();
	s64 pid = conceive(cgroup);
	while (pid > 0 && call(SYS_wait4, pid, &status, 0, 0) == EINTR_)
		;
	PyOS_AfterFork_Parent();
	return pid < 0 ? pid : child > 0 && !status ? child : EAGAIN_;
}

// forget leaves nothing of a message to whom the memory goes on to.
static void forget(void)
{
	u32 size = ((struct header *)message)->size;
	memset(message, 0, size < sizeof message ? size : sizeof message);
}

static __attribute__((noinline)) void come_back(void)
{
	forget();
	__builtin_longjmp(home, 1);
}

// remember has the kernel keep the C library's restartable sequences up to date (rseq(2), of
// glibc 2.35), which a process that shares its memory with another has not, and its child neither.
static void remember(void)
{
	u8 *thread;
	u32 signature;
	if (!&__rseq_size || !__rseq_size)
		return;
#if defined(__x86_64__)
	__asm__("mov %%fs:0,%0" : "=r"(thread));
	signature = 0x53053053;
#else
	__asm__("mrs %0,tpidr_el0" : "=r"(thread));
	signature = 0xd428bc00;
#endif
	call(SYS_rseq, thread + __rseq_offset, __rseq_size < 32 ? 32 : __rseq_size, 0, signature);
}

// PyInit_ancestor returns in children alone, as from a module that is not there.
__attribute__((visibility("default"))) object PyInit_ancestor(void)
{
	if (!PyOS_BeforeFork || !PyOS_AfterFork_Parent || !PyOS_AfterFork_Child)
		quit(126);
	if (__builtin_setjmp(home)) {
		remember();
		PyOS_AfterFork_Child();
		PyErr_SetNone(PyExc_ImportError);
		return 0;
	}
	while (receive() > 0)
		forget();
	quit(0);
}
