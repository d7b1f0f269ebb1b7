// near.c: has a Node that waits need fewer tables of pages: V8's heap lies together, and what was used
// of the program is forgotten.
//
// V8 asks for each chunk of its heap, 256 KiB, at a random place among 64 TiB. There the kernel
// needs three pages of tables for it that no other chunk shares: of the 16 with which a Node
// starts, 190 KiB, which every fork copies and every end gives back. This library comes before
// libc, and asks for them without a place: the kernel chooses one, at random for the whole
// process (ASLR), and beside what is there.
//
// Of the 82 MiB of its program a Node has used some here and some there before it waits, a table for each
// 2 MiB of them, 160 KiB. The library maps the program anew before it does, and then the kernel has a table
// only for what was used since: the pages are still those of the file, in memory.
//
// It says nothing when it is there, needs no library of its own, and does as libc for all else. Its file
// is on the disk of the run, and is no part of it: the library lets go of it once it is loaded.

#include <asm/unistd.h>
#include <elf.h>
#include <limits.h>
#include <linux/fcntl.h>
#include <linux/mman.h>

typedef unsigned long size;

// chunk_most is more than V8 reserves for one, which is twice its size, so that a part of it is aligned.
static const size chunk_most = 1 << 20;

extern int *__errno_location(void); // of glibc and musl, as what follows
extern unsigned long getauxval(unsigned long type);

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

// result is what a call says, as libc says it.
static long result(long ret)
{
	if (ret < 0 && ret > -4096) { // include/linux/err.h
		*__errno_location() = (int)-ret;
		return -1;
	}
	return ret;
}

__attribute__((visibility("default"))) void *mmap(void *hint, size length, int protection, int flags, int fd, long offset)
{
	const int reserves = MAP_ANONYMOUS | MAP_NORESERVE;
	if (protection == PROT_NONE && (flags & (reserves | MAP_FIXED)) == reserves && length < chunk_most)
		hint = 0;
	return (void *)result(call(__NR_mmap, (long)hint, (long)length, protection, flags, fd, offset));
}

__attribute__((visibility("default"), alias("mmap"))) void *mmap64(void *, size, int, int, int, long);

// forget maps anew what of the program nobody writes to, its code and its constants, and so has the same in it.
static void forget(void)
{
	const Elf64_Phdr *header = (const Elf64_Phdr *)getauxval(AT_PHDR), *end = header + getauxval(AT_PHNUM);
	long base = 0; // of a program that can be anywhere
	for (const Elf64_Phdr *h = header; h < end; h++)
		if (h->p_type == PT_PHDR)
			base = (long)header - (long)h->p_vaddr;
	long fd = call(__NR_openat, AT_FDCWD, (long)"/proc/self/exe", O_RDONLY | O_CLOEXEC, 0, 0, 0);
	if (fd < 0)
		return;
	const long within = (long)getauxval(AT_PAGESZ) - 1;
	for (const Elf64_Phdr *h = header; h < end; h++) {
		if (h->p_type != PT_LOAD || h->p_flags & PF_W)
			continue;
		long at = (base + (long)h->p_vaddr) & ~within, skipped = (long)h->p_vaddr & within;
		call(__NR_mmap, at, (long)h->p_filesz + skipped, (h->p_flags & PF_R ? PROT_READ : 0) | (h->p_flags & PF_X ? PROT_EXEC : 0),
		     MAP_PRIVATE | MAP_FIXED, fd, (long)h->p_offset - skipped);
	}
	call(__NR_close, fd, 0, 0, 0, 0, 0);
}

static enum { STARTS, IS_TO_WAIT, HAS_WAITED } state;

// fdatasync is how node_ahead.cjs says that its next read waits, once, by a descriptor that no process can
// have. Whoever is told so is to hear it of the library, which has nothing to forget after that.
__attribute__((visibility("default"))) int fdatasync(int fd)
{
	if (fd == INT_MAX && state == STARTS) {
		state = IS_TO_WAIT;
		return 0;
	}
	return (int)result(call(__NR_fdatasync, fd, 0, 0, 0, 0, 0));
}

__attribute__((visibility("default"))) long read(int fd, void *data, size length)
{
	if (state == IS_TO_WAIT && fd == 0) {
		forget();
		state = HAS_WAITED;
		call(__NR_write, 1, (long)"\x06", 1, 0, 0, 0);
	}
	return result(call(__NR_read, fd, (long)data, (long)length, 0, 0, 0));
}

// copy puts memory of the process's own in the place of what the file has at a page. It runs in one
// of these pages, whose bytes stay what they are.
static void copy(long page, long protection)
{
	const long page_size = 4096;
	long to = call(__NR_mmap, 0, page_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (to < 0 && to > -4096)
		return;
	for (long i = 0; i < page_size / 8; i++)
		((volatile long *)to)[i] = ((volatile long *)page)[i];
	call(__NR_mprotect, to, page_size, protection, 0, 0, 0);
	call(__NR_mremap, to, page_size, page_size, MREMAP_MAYMOVE | MREMAP_FIXED, page, 0);
}

extern char _DYNAMIC[] __attribute__((visibility("hidden")));

__attribute__((constructor)) static void let_go(void)
{
	copy((long)_DYNAMIC & -4096L, PROT_READ | PROT_WRITE);
	copy((long)call & -4096L, PROT_READ | PROT_EXEC);
}
