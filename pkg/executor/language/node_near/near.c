// near.c: has V8's heap lie together.
//
// V8 asks for each chunk of its heap, 256 KiB, at a random place among 64 TiB. There the kernel
// needs three pages of tables for it that no other chunk shares: of the 16 with which a Node
// starts, 190 KiB, which every fork copies and every end gives back. This library comes before
// libc, and asks for them without a place: the kernel chooses one, at random for the whole
// process (ASLR), and beside what is there.
//
// It says nothing when it is there, needs no library of its own, and does as libc for all else.

typedef unsigned long size;

enum { // include/uapi/asm-generic/mman-common.h
	PROT_NONE_ = 0, MAP_FIXED_ = 0x10, MAP_ANONYMOUS_ = 0x20, MAP_NORESERVE_ = 0x4000,
};

// chunk_most is more than V8 reserves for one, which is twice its size, so that a part of it is aligned.
static const size chunk_most = 1 << 20;

extern int *__errno_location(void); // of glibc and musl

static long map(long address, size length, long protection, long flags, long fd, long offset)
{
#if defined(__x86_64__)
	register long r10 __asm__("r10") = flags, r8 __asm__("r8") = fd, r9 __asm__("r9") = offset;
	long ret;
	__asm__ volatile("syscall"
			 : "=a"(ret)
			 : "a"(9L), "D"(address), "S"(length), "d"(protection), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	return ret;
#else
	register long x8 __asm__("x8") = 222, x0 __asm__("x0") = address, x1 __asm__("x1") = (long)length;
	register long x2 __asm__("x2") = protection, x3 __asm__("x3") = flags, x4 __asm__("x4") = fd, x5 __asm__("x5") = offset;
	__asm__ volatile("svc #0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5) : "memory");
	return x0;
#endif
}

__attribute__((visibility("default"))) void *mmap(void *hint, size length, int protection, int flags, int fd, long offset)
{
	const int reserves = MAP_ANONYMOUS_ | MAP_NORESERVE_;
	if (protection == PROT_NONE_ && (flags & (reserves | MAP_FIXED_)) == reserves && length < chunk_most)
		hint = 0;
	long ret = map((long)hint, length, protection, flags, fd, offset);
	if (ret < 0 && ret > -4096) { // include/linux/err.h
		*__errno_location() = (int)-ret;
		return (void *)-1;
	}
	return (void *)ret;
}

__attribute__((visibility("default"), alias("mmap"))) void *mmap64(void *, size, int, int, int, long);
