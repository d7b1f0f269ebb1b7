// ancestor.c: an interpreter that forks itself into containers.
//
// CPython or Node loads this as a module once it waits for its work, with a socket on a descriptor
// that messages come from as to every server (init.c). It never ends as a module: a message has it
// enter the pid namespace of a container and beget a child there, which enters the rest, takes
// on all that stands around a program, and goes on as the interpreter, with its work to wait
// for. The container's init becomes its parent.
//
// What CPython and libc have to do at a fork is done: before and after by theirs. Node knows of no
// fork, and has threads: what has to be done for it is here, and in threads.h.

#define ANCESTOR
#include "init.c"

typedef void *object;
extern int fork(void);
extern object PyExc_ImportError __attribute__((weak));
extern void PyErr_SetObject(object type, object value) __attribute__((weak));
extern void PyOS_BeforeFork(void) __attribute__((weak)); // CPython 3.7
extern void PyOS_AfterFork_Parent(void) __attribute__((weak));
extern void PyOS_AfterFork_Child(void) __attribute__((weak));
extern object GetCurrent(void) __asm__("_ZN2v87Isolate10GetCurrentEv") __attribute__((weak)); // of Node
extern int RAND_poll(void) __attribute__((weak)); // OpenSSL's

#define CLONE_INTO_CGROUP_ 0x200000000UL

enum {
	CLONE_VM_ = 0x100, CLONE_VFORK_ = 0x4000, SIGCHLD_ = 17, SYS_clone3 = 435,
};

#include "threads.h"
#include "random.h"
#include "end.h"

static void *home[5], *born[5];                          // where a child goes on, see __builtin_setjmp
static u8 parent_stack[64 << 10] __attribute__((aligned(16)));
static s64 child; // its number in the namespace that it is born in

// parent lives from the entry into the pid namespace until it has forked, and leaves its child to
// that namespace's first then. It has its memory in common with the ancestor, who waits: so it
// costs no fork. Nobody waits for the child, which has a lock of the kernel's to wait for.
static __attribute__((noreturn, used)) void parent(void)
{
	child = stopped ? fork_alone() : fork();
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
	if (PyOS_BeforeFork)
		PyOS_BeforeFork();
	s64 pid = conceive(cgroup);
	while (pid > 0 && call(SYS_wait4, pid, &status, 0, 0) == EINTR_)
		;
	if (PyOS_AfterFork_Parent)
		PyOS_AfterFork_Parent();
	return pid < 0 ? pid : child > 0 && !status ? child : EAGAIN_;
}

// forget leaves nothing of a message to whom the memory goes on to.
static void forget(void)
{
	u32 size = ((struct header *)message)->size;
	memset(message, 0, size < sizeof message ? size : sizeof message);
}

// come_back has a child go on as the interpreter.
static __attribute__((noinline)) void come_back(void)
{
	forget();
	if (call(SYS_close, CONTROL, 0, 0, 0))
		quit(127);
	__builtin_longjmp(home, 1);
}

// live is the life of an ancestor. It returns in children alone.
static void live(void)
{
	if (__builtin_setjmp(home))
		return;
	while (receive() > 0)
		forget();
	quit(0);
}

// PyInit_ancestor returns as from a module that is not there. What it says of it is the function that leaves
// an interpreter's end, if there is one.
__attribute__((visibility("default"))) object PyInit_ancestor(void)
{
	if (!PyOS_BeforeFork || !PyOS_AfterFork_Parent || !PyOS_AfterFork_Child)
		quit(126);
	int diverted = divert();
	live();
	remember();
	PyOS_AfterFork_Child();
	PyErr_SetObject(PyExc_ImportError, diverted ? leaving() : 0);
	return 0;
}

// napi_register_module_v1 returns as from a module that exports nothing. What is random in a child
// is not its ancestor's: OpenSSL finds out by its number that it was forked, which is made sure of.
__attribute__((visibility("default"))) object napi_register_module_v1(object environment, object exports)
{
	(void)environment;
	if (!GetCurrent || !RAND_poll || !find_generators(GetCurrent()))
		quit(126);
	live();
	sow_anew();
	if (RAND_poll() != 1)
		quit(126);
	return exports;
}
