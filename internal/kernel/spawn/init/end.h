// end.h: an end of CPython without what nobody would see of it.
//
// Py_FinalizeEx waits for threads, calls what a program has asked to be called at its end (atexit), and
// then takes the interpreter apart, object by object. That gives back memory which the kernel takes
// back at once, and writes to most pages that a fork has in common with its ancestor. A program that
// could not tell may leave before: from the last of those calls, as if Py_FinalizeEx had returned. Where it
// returns to, and with which status the process ends then, only its caller knows. So an
// ancestor puts a jump to finalize, which remembers that, over its first instructions.

extern int Py_FinalizeEx(void) __attribute__((weak));
extern object PyCFunction_NewEx(void *definition, object self, object module) __attribute__((weak));
extern void Py_IncRef(object) __attribute__((weak));
extern u64 getauxval(u64) __attribute__((weak));
extern int dladdr1(const void *, void *info, void *extra, int flags) __attribute__((weak)); // of the GNU C library
extern char _Py_NoneStruct[] __attribute__((weak));

enum {
	PROT_READ_ = 1, PROT_WRITE_ = 2, PROT_EXEC_ = 4, MAP_PRIVATE_ = 2, MAP_ANONYMOUS_ = 0x20,
	MREMAP_MAYMOVE_ = 1, MREMAP_FIXED_ = 2, METH_NOARGS_ = 4,
	AT_PAGESZ_ = 6, RTLD_DL_SYMENT_ = 1,
#if defined(__x86_64__)
	SYS_mmap = 9, SYS_mprotect = 10, SYS_mremap = 25,
#else
	SYS_mmap = 222, SYS_mprotect = 226, SYS_mremap = 216,
#endif
};

static u8 *code, *original; // where Py_FinalizeEx begins, in whole pages, and what was there
static u64 code_size;
static void *finalized[5]; // where Py_FinalizeEx returns to, see __builtin_setjmp
static int finalizing;

// finalize is called as Py_FinalizeEx, which it calls. Its pages are moved back to their place for that,
// and not written to: a program may have left itself no memory to write to (RLIMIT_DATA, RLIMIT_AS).
static int finalize(void)
{
	if (call6(SYS_mremap, (u64)original, code_size, code_size, MREMAP_MAYMOVE_ | MREMAP_FIXED_, (u64)code, 0) < 0)
		quit(127);
	if (__builtin_setjmp(finalized))
		return 0;
	finalizing = 1;
	return Py_FinalizeEx();
}

// leave returns from Py_FinalizeEx, if that is at work.
static object leave(object self, object none)
{
	(void)self, (void)none;
	if (finalizing)
		__builtin_longjmp(finalized, 1);
	Py_IncRef(_Py_NoneStruct);
	return _Py_NoneStruct;
}

// copied gives pages with what is elsewhere, or nothing.
static u8 *copied(const u8 *from, u64 size)
{
	s64 to = call6(SYS_mmap, 0, size, PROT_READ_ | PROT_WRITE_, MAP_PRIVATE_ | MAP_ANONYMOUS_, -1, 0);
	if (to < 0 && to > -4096)
		return 0;
	for (u64 i = 0; i < size; i++)
		((u8 *)to)[i] = from[i];
	return (u8 *)to;
}

// divert has Py_FinalizeEx lead to finalize, and tells whether it does: not where the host allows no
// code of its own (SELinux's execmem).
static int divert(void)
{
#if defined(__x86_64__)
	struct { u8 load[2]; u64 to; u8 jump[2]; } __attribute__((packed)) jump = {{0x48, 0xb8}, (u64)finalize, {0xff, 0xe0}}; // mov to,%rax; jmp *%rax
#else
	struct { u32 load, jump; u64 to; } __attribute__((packed)) jump = {0x58000050, 0xd61f0200, (u64)finalize}; // ldr x16,to; br x16
#endif
	struct { const char *file; void *base; const char *name; void *at; } found;
	u64 *symbol; // an Elf64_Sym, whose third word is the size
	if (!getauxval || !dladdr1 || !Py_FinalizeEx || !PyCFunction_NewEx || !Py_IncRef || !_Py_NoneStruct)
		return 0;
	if (!dladdr1(Py_FinalizeEx, &found, &symbol, RTLD_DL_SYMENT_) || found.at != (void *)Py_FinalizeEx || symbol[2] < sizeof jump)
		return 0;
	u64 page = getauxval(AT_PAGESZ_), at = (u64)Py_FinalizeEx, offset = at & (page - 1);
	code = (u8 *)(at - offset);
	code_size = (offset + sizeof jump + page - 1) & ~(page - 1);
	u8 *diverted = copied(code, code_size);
	original = copied(code, code_size);
	if (!diverted || !original)
		return 0;
	for (u64 i = 0; i < sizeof jump; i++)
		diverted[offset + i] = ((u8 *)&jump)[i];
	if (call(SYS_mprotect, diverted, code_size, PROT_READ_ | PROT_EXEC_, 0) ||
	    call(SYS_mprotect, original, code_size, PROT_READ_ | PROT_EXEC_, 0))
		return 0;
	if (call6(SYS_mremap, (u64)diverted, code_size, code_size, MREMAP_MAYMOVE_ | MREMAP_FIXED_, (u64)code, 0) < 0)
		quit(126); // what was there may be gone
	return 1;
}

// leaving is the function that leaves, as an object of Python's.
static object leaving(void)
{
	static struct { const char *name; object (*call)(object, object); int flags; const char *doc; } definition = {"leave", leave, METH_NOARGS_, 0};
	return PyCFunction_NewEx(&definition, 0, 0);
}
