// near.c: has V8's heap lie together.
//
// V8 asks for each chunk of its heap, 256 KiB, at a random place among 64 TiB. There the kernel
// needs three pages of tables for it that no other chunk shares: of the 16 with which a Node
// starts, 190 KiB, which every fork copies and every end gives back. This library comes before
// libc, and asks for them without a place: the kernel chooses one, at random for the whole
// process (ASLR), and beside what is there.
//
// It says nothing when it is there, needs no library of its own, and does as libc for all else. Its file
// is on the disk of the run, and is no part of it: the library lets go of it once it is loaded.

typedef unsigned long size;

enum { // include/uapi/asm-generic/mman-common.h
	PROT_NONE_ = 0, MAP_FIXED_ = 0x10, MAP_ANONYMOUS_ = 0x20, MAP_NORESERVE_ = 0x4000,
};

// chunk_most is more than V8 reserves for one, which is twice its size, so that a part of it is aligned.
static const size chunk_most = 1 << 20;

extern int *__errno_location(void); // of glibc and musl

#if defined(__x86_64__)
enum { SYS_mmap = 9, SYS_mprotect = 10, SYS_mremap = 25 };
#else
enum { SYS_mmap = 222, SYS_mprotect = 226, SYS_mremap = 216 };
#endif

static long call(long number, long a, long b, long c, long d, long e, long f)
{
#if defined(__x86_64__)
	register long r10 __asm__("r10") = d, r8 __asm__("r8") = e, r9 __asm__("r9") = f;
	long ret;
	__asm__ volatile("syscall"
			 : "=a"(ret)
			 : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	return ret;
#else
	register long x8 __asm__("x8") = number, x0 __asm__("x0") = a, x1 __asm__("x1") = b;
	register long x2 __asm__("x2") = c, x3 __asm__("x3") = d, x4 __asm__("x4") = e, x5 __asm__("x5") = f;
	__asm__ volatile("svc #0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5) : "memory");
	return x0;
#endif
}

__attribute__((visibility("default"))) void *mmap(void *hint, size length, int protection, int flags, int fd, long offset)
{
	const int reserves = MAP_ANONYMOUS_ | MAP_NORESERVE_;
	if (protection == PROT_NONE_ && (flags & (reserves | MAP_FIXED_)) == reserves && length < chunk_most)
		hint = 0;
	long ret = call(SYS_mmap, (long)hint, (long)length, protection, flags, fd, offset);
	if (ret < 0 && ret > -4096) { // include/linux/err.h
		*__errno_location() = (int)-ret;
		return (void *)-1;
	}
	return (void *)ret;
}

__attribute__((visibility("default"), alias("mmap"))) void *mmap64(void *, size, int, int, int, long);

// copy puts memory of the process's own in the place of what the file has at a page. It runs in one
// of these pages, whose bytes stay what they are.
static void copy(long page, long protection)
{
	const long page_size = 4096;
	long to = call(SYS_mmap, 0, page_size, 3 /* PROT_READ | PROT_WRITE */, 0x22 /* MAP_PRIVATE | MAP_ANONYMOUS */, -1, 0);
	if (to < 0 && to > -4096)
		return;
	for (long i = 0; i < page_size / 8; i++)
		((volatile long *)to)[i] = ((volatile long *)page)[i];
	call(SYS_mprotect, to, page_size, protection, 0, 0, 0);
	call(SYS_mremap, to, page_size, page_size, 3 /* MREMAP_MAYMOVE | MREMAP_FIXED */, page, 0);
}

extern char _DYNAMIC[] __attribute__((visibility("hidden")));

__attribute__((constructor)) static void let_go(void)
{
	copy((long)_DYNAMIC & -4096L, 3);
	copy((long)call & -4096L, 5 /* PROT_READ | PROT_EXEC */);
}
