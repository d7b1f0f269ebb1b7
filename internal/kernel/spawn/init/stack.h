// stack.h: the spawner leaves the stack that the kernel has given it (part of init.c).
//
// It goes on with one that is a part of its own memory. So every container's init, which is forked
// from it, takes three pages of tables less, and one or two of a stack. With the stack go its
// arguments and its environment, for who looks it up in /proc: it has none.

static u8 own_stack[32 << 10] __attribute__((aligned(16)));

// live gives the kernel's stack back and serves. It ends behind the name that we were executed
// by (fs/exec.c).
static __attribute__((noreturn, used)) void live(u64 *stack)
{
	u64 *value = stack + 1 + stack[0] + 1; // behind argv
	while (*value++); // and the environment
	while (*value && *value != 31 /* AT_EXECFN */)
		value += 2;
	if (*value) {
		const u8 *end = (const u8 *)value[1];
		while (*end++);
		u64 top = ((u64)end + 8 + 4095) & ~4095UL, size = 1 << 20; // more than it has grown to
		call(SYS_munmap, top - size, size, 0, 0);
	}
	serve();
}

// settle leaves the stack, at which argc is.
static __attribute__((noreturn)) void settle(u64 *stack)
{
	u8 *top = own_stack + sizeof own_stack;
#if defined(__x86_64__)
	__asm__ volatile("mov %0,%%rsp\n\txor %%ebp,%%ebp\n\tcall live\n\thlt" : : "r"(top), "D"(stack) : "memory");
#else
	register u64 *x0 __asm__("x0") = stack;
	__asm__ volatile("mov sp,%0\n\tmov x29,#0\n\tbl live\n\tbrk #0" : : "r"(top), "r"(x0) : "memory");
#endif
	__builtin_unreachable();
}
