// init.c: an interpreter of system calls.
//
// This program is the spawner, and every container's pid 1. It decides nothing.
// A message on descriptor 3 is a list of system calls, written by the Go side
// (program.go) with pointers as offsets; they are made one after the other, and
// a record says how that went. One kind of step forks: the child makes the next
// few calls, of which the last is usually execve, or becomes such a server
// itself. Children that end are reaped and reported.
//
// Started with an argument it serves standard input and output instead, for
// containers into which no descriptor can be passed: the streams of programs then
// travel between the records.
//
// doc.go draws the protocol. It is written in C because a Go program in each
// container costs three threads, 0.4 MiB and a millisecond, and because only a
// process with one thread may enter a user namespace. No libc, no allocation, no
// input but the messages of a peer that is more privileged than we are.

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef int s32;
typedef unsigned long u64;
typedef long s64;

enum {
#ifdef ANCESTOR
	CONTROL = 63,            // ancestor.go: ancestorFD, which no interpreter has reached when it waits
#else
	CONTROL = 3,             // the socket, in every server; or the input
#endif
	OUT = 4,                 // where records go when CONTROL is no socket
	STREAM = 5,              // the program's input, output and errors, if carried
	SIGNALS = 8,             // the signalfd of a server without a socket
	PASSING = 9,             // its first descriptor that a message leaves to no other
	MESSAGE_MAX = 256 << 10, // protocol.go: maxMessage
	MESSAGE_KEPT = 8 << 10,  // of a larger one the memory is given back: it has built a container
	FDS_MAX = 64,            // protocol.go: maxFiles
	CHILDREN_MAX = 16 << 10, // forked here and not yet reported
	TREE_MAX = 64 << 10,     // killed at a time
	BURIED_MAX = 128,        // before a message is looked for
	CHUNK = 64 << 10,        // stream.go: chunk
	MAGIC = 0x31724273,
	MAGIC_INPUT = 0x32724273,  // bytes for the program; none: that was all
	MAGIC_CREDIT = 0x33724273, // how many bytes more of a stream are wanted

	STEP_FORK = 1,  // step.flags: the next `skip` steps are the child's
	ALLOW_ANY = -1, // step.allow: what the call returns is its result, whatever it is

	CALL_SERVE = 0xffff0001,    // instead of a number: become a server
	CALL_KILLTREE = 0xffff0002, // kill and reap every descendant
	CALL_COPY = 0xffff0003,     // the result is the first argument
	CALL_CARRY = 0xffff0004,    // carry stream a[0] through descriptor a[1]
	CALL_AWAIT = 0xffff0005,    // of a child: carry out what a socket of its own says
	CALL_READY = 0xffff0006,    // say that execve is next
	CALL_BEGET = 0xffff0007,    // of an ancestor: fork a child of what it has entered
	CALL_RETURN = 0xffff0008,   // of its child: go on as the interpreter
	CALL_ADOPT = 0xffff0009,    // report the end of the child a[0], which somebody else forked
	CALL_ATTEND = 0xffff000a,   // trace a[0], which is nobody's child here, for its end
	CALL_UNATTEND = 0xffff000b, // trace it no more
	CALL_STOP = 0xffff000c,     // of an ancestor: stop its other threads, whose numbers are at a[0], a[1] of them
	CALL_RESUME = 0xffff000d,   // of its child: go on with as many

	RECORD_DONE = 1,
	RECORD_FAILED = 2,
	RECORD_EXIT = 3,
	RECORD_IDLE = 4,
	RECORD_OUTPUT = 6, // and the bytes; none: that was all
	RECORD_INPUT = 7,  // the bytes were taken, or nobody will: errno
	RECORD_READY = 8,

	EXIT_LAST = 1,
	EXIT_HELD = 2,
	STOPPED = 0x7f, // of a wait status, its last byte
};

// Without a socket `files` is the size of the answer: so many bytes behind the
// message, zero at first, that the calls may write to and that go back with DONE.
struct header {
	u32 magic, seq, steps, relocs, files, size;
};

struct step {
	u32 call;
	u16 flags, skip;
	s32 save;  // offset at which the result is stored as an int, or -1
	s32 allow; // an errno that counts as success, or 0, or ALLOW_ANY
	u32 cells; // bit i: argument i is the int at offset arg[i]
	u32 unused;
	u64 arg[6];
};

struct record {
	u32 kind, seq;
	s32 a, b; // DONE: pid; FAILED: step, errno; EXIT: pid, wait status, with seq EXIT_LAST if no child is
	          // left, EXIT_HELD if it is held
	          // OUTPUT: stream; INPUT: errno
	u64 usage[12]; // the last one: bytes that follow
};

#if defined(__x86_64__)
enum {
	SYS_close = 3, SYS_sendto = 44, SYS_recvmsg = 47, SYS_wait4 = 61,
	SYS_kill = 62, SYS_getpid = 39, SYS_exit_group = 231, SYS_signalfd4 = 289,
	SYS_rt_sigprocmask = 14, SYS_openat = 257, SYS_read = 0, SYS_ppoll = 271,
	SYS_write = 1, SYS_dup3 = 292, SYS_fcntl = 72, SYS_rt_sigaction = 13, SYS_close_range = 436, SYS_prctl = 157, SYS_getdents64 = 217,
	SYS_munmap = 11, SYS_madvise = 28,
};
static s64 call6(s64 n, u64 a, u64 b, u64 c, u64 d, u64 e, u64 f)
{
	register u64 r10 __asm__("r10") = d;
	register u64 r8 __asm__("r8") = e;
	register u64 r9 __asm__("r9") = f;
	s64 ret;
	__asm__ volatile("syscall" : "=a"(ret) : "a"(n), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	return ret;
}
#ifndef ANCESTOR
__asm__(".globl _start\n_start:\n\txor %ebp,%ebp\n\tmov %rsp,%rdi\n\tand $-16,%rsp\n\tcall begin\n\thlt\n");
#endif
#elif defined(__aarch64__)
enum {
	SYS_close = 57, SYS_sendto = 206, SYS_recvmsg = 212, SYS_wait4 = 260,
	SYS_kill = 129, SYS_getpid = 172, SYS_exit_group = 94, SYS_signalfd4 = 74,
	SYS_rt_sigprocmask = 135, SYS_openat = 56, SYS_read = 63, SYS_ppoll = 73,
	SYS_write = 64, SYS_dup3 = 24, SYS_fcntl = 25, SYS_rt_sigaction = 134, SYS_close_range = 436, SYS_prctl = 167, SYS_getdents64 = 61,
	SYS_munmap = 215, SYS_madvise = 233,
};
static s64 call6(s64 n, u64 a, u64 b, u64 c, u64 d, u64 e, u64 f)
{
	register u64 x8 __asm__("x8") = n;
	register u64 x0 __asm__("x0") = a;
	register u64 x1 __asm__("x1") = b;
	register u64 x2 __asm__("x2") = c;
	register u64 x3 __asm__("x3") = d;
	register u64 x4 __asm__("x4") = e;
	register u64 x5 __asm__("x5") = f;
	__asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5) : "memory");
	return x0;
}
#ifndef ANCESTOR
__asm__(".globl _start\n_start:\n\tmov x29,#0\n\tmov x30,#0\n\tmov x0,sp\n\tbl begin\n\tbrk #0\n");
#endif
#else
#error "no system-call conventions for this architecture"
#endif

#define call(n, a, b, c, d) call6((n), (u64)(a), (u64)(b), (u64)(c), (u64)(d), 0, 0)

static const s64 EPERM_ = -1, EINTR_ = -4, EAGAIN_ = -11, EPIPE_ = -32, EIO_ = -5, EINVAL_ = 22;

static u8 message[MESSAGE_MAX] __attribute__((aligned(4096)));
static s32 children[CHILDREN_MAX]; // memory is taken as far as it is used
static int used;                   // none is remembered from here on
static int idle;                   // no child is alive, and that was reported
static int carrying;               // there is no socket
// memset is what the compiler calls to clear a large variable.
void *memset(void *to, int value, u64 n)
{
	for (u8 *p = to; n--; p++)
		*p = value;
	return to;
}

static __attribute__((noreturn)) void quit(int code)
{
	for (;;)
		call(SYS_exit_group, code, 0, 0, 0);
}

static void put(u8 *p, u64 n);
static s64 beget(s64 cgroup);
static s64 stop_others(s32 *numbers, u64 n);
static s64 resume_others(void);
static void come_back(void);

static void report(u32 kind, u32 seq, s32 a, s32 b, struct record *r)
{
	struct record empty = {0};
	if (!r)
		r = &empty;
	r->kind = kind;
	r->seq = seq;
	r->a = a;
	r->b = b;
	if (carrying) {
		put((u8 *)r, sizeof *r);
		return;
	}
	// MSG_NOSIGNAL: a peer that is gone is seen as end of file by serve.
	while (call6(SYS_sendto, CONTROL, (u64)r, sizeof *r, 0x4000, 0, 0) == EINTR_)
		;
}

// room finds a free place in children, or -1: then nothing may be forked, for
// its end would be told to nobody.
static int room(void)
{
	int i = 0;
	while (i < used && children[i])
		i++;
	return i < CHILDREN_MAX ? i : -1;
}

// adopt remembers a child whose end will be reported.
static void adopt(int place, s32 pid)
{
	idle = 0;
	children[place] = pid;
	if (place == used)
		used++;
}

// foster remembers a child of ours that somebody else has forked. Dead or alive, it must not
// be reaped yet. As long as it is somebody else's it is not for us to signal, but there.
static s64 foster(s32 pid)
{
	int place = room();
	s64 ret = place < 0 ? EAGAIN_ : call(SYS_kill, pid, 0, 0, 0);
	if (ret && ret != EPERM_)
		return ret;
	adopt(place, pid);
	return 0;
}

#include "attend.h"

// reap collects the dead and reports those that were forked here. It returns
// the last result of wait4: 0 while children live on, -ECHILD when none is left,
// which the last report then says: a program that has left nothing behind costs
// one record. More than 0 says that others may be dead: children that a program
// makes ours (CLONE_PARENT) can die faster than they are buried, and whoever wants
// them killed is to be heard.
static s64 reap(void)
{
	// struct rusage: utime, stime (each s, us), maxrss, ixrss, idrss, isrss, minflt,
	// majflt, nswap, inblock, oublock, msgsnd, msgrcv, nsignals, nvcsw, nivcsw.
	static const u8 kept[] = {4, 8, 9, 11, 12, 16, 17};
	struct record last = {0};
	for (int buried = 0;; buried++) {
		u64 usage[18] = {0};
		s32 status = 0;
		// WNOHANG, and __WALL: also children that were made without SIGCHLD.
		s64 pid = buried < BURIED_MAX ? call(SYS_wait4, -1, &status, 0x40000001, usage) : 0;
		if (pid == EINTR_)
			continue;
		if (last.a) {
			if (pid < 0)
				idle = 1;
			report(RECORD_EXIT, pid < 0 ? EXIT_LAST : 0, last.a, last.b, &last);
			last.a = 0;
		}
		if (pid <= 0)
			return buried < BURIED_MAX ? pid : buried;
		int known = 0;
		for (int i = 0; i < used; i++)
			if (children[i] == pid) {
				children[i] = 0;
				known = last.a = pid, last.b = status;
				last.usage[0] = usage[0] * 1000000 + usage[1];
				last.usage[1] = usage[2] * 1000000 + usage[3];
				for (u32 k = 0; k < sizeof kept; k++)
					last.usage[2 + k] = usage[kept[k]];
			}
		if ((status & 0xff) == STOPPED) {
			attend(pid, status, known, &last);
			last.a = 0;
		}
	}
}

#include "tree.h"

void serve(void);
static s64 receive(void);
static s64 carry(u64 stream, s64 fd);
static void report_bytes(u32 kind, u32 seq, s32 a, u8 *bytes, u64 n);

// run makes the calls from..to of a message. A child that fails says so and
// dies; the parent stops at the failure.
static s64 run(struct header *h, struct step *steps, u32 from, u32 to, int child)
{
	s32 forked = 0;
	for (u32 i = from; i < to; i++) {
		struct step *s = &steps[i];
		u64 a[6];
		s64 ret = 0;
		int place = s->flags & STEP_FORK ? room() : 0;
		for (int k = 0; k < 6; k++)
			a[k] = s->cells >> k & 1 ? (u64)(s64) * (s32 *)(message + s->arg[k]) : s->arg[k];
		if (place < 0)
			ret = EAGAIN_;
		else if (s->call == CALL_SERVE)
			serve();
		else if (s->call == CALL_AWAIT) {
			while (receive() > 0); // until execve
			quit(126);
		} else if (s->call == CALL_READY)
			report(RECORD_READY, h->seq, 0, 0, 0);
		else if (s->call == CALL_KILLTREE)
			killtree();
		else if (s->call == CALL_COPY)
			ret = a[0];
		else if (s->call == CALL_CARRY)
			ret = carry(a[0], a[1]);
		else if (s->call == CALL_ADOPT)
			ret = foster(forked = a[0]);
		else if (s->call == CALL_ATTEND)
			ret = trace(forked = a[0]);
		else if (s->call == CALL_UNATTEND)
			ret = untrace(a[0]);
		else if (s->call == CALL_BEGET)
			ret = beget(a[0]);
		else if (s->call == CALL_STOP)
			ret = stop_others((s32 *)a[0], a[1]);
		else if (s->call == CALL_RESUME)
			ret = resume_others();
		else if (s->call == CALL_RETURN)
			come_back();
		else
			ret = call6(s->call, a[0], a[1], a[2], a[3], a[4], a[5]);
		if (s->flags & STEP_FORK) {
			if (ret == 0) {
				run(h, steps, i + 1, i + 1 + s->skip, 1);
				quit(0);
			}
			if (ret > 0)
				forked = ret;
			if (ret > 0 && s->call != CALL_BEGET)
				adopt(place, ret);
			i += s->skip;
		}
		if (ret < 0 && ret > -4096 && -ret != s->allow && s->allow != ALLOW_ANY) {
			report(RECORD_FAILED, h->seq, s - steps, -ret, 0);
			if (child)
				quit(127);
			return -1;
		}
		if (s->save >= 0)
			*(s32 *)(message + s->save) = ret;
	}
	if (!child && carrying)
		report_bytes(RECORD_DONE, h->seq, forked, message + h->size, h->files);
	else if (!child)
		report(RECORD_DONE, h->seq, forked, 0, 0);
	return 0;
}

// carry_out makes the calls of a message.
static void carry_out(struct header *h, s32 *fds, u32 files)
{
	struct step *steps = (struct step *)(h + 1);
	u32 *relocs = (u32 *)(steps + h->steps);
	s32 *cells = (s32 *)(relocs + h->relocs);
	for (u32 i = 0; i < h->relocs; i++)
		*(u64 *)(message + relocs[i]) += (u64)message;
	for (u32 i = 0; i < files; i++)
		cells[i] = fds[i];
	run(h, steps, 0, h->steps, 0);
}

#include "stream.h"

// receive reads one message with its descriptors and carries it out. It returns
// 0 at end of file.
static s64 receive(void)
{
	struct { u64 base, len; } iov = {(u64)message, sizeof message};
	struct { u64 len; s32 level, type; s32 fds[FDS_MAX]; } control;
	struct { u64 name; u32 namelen, p0; void *iov; u64 iovlen; void *control; u64 controllen; s32 flags, p1; } msg = {
		0, 0, 0, &iov, 1, &control, sizeof control, 0, 0};
	control.len = 0;
	// MSG_CMSG_CLOEXEC: nothing that comes in reaches a program by accident.
	s64 n = call(SYS_recvmsg, CONTROL, &msg, 0x40000000, 0);
	if (n == EINTR_ || n == EAGAIN_)
		return 1;
	if (n <= 0)
		return 0;

	struct header *h = (struct header *)message;
	u32 files = msg.controllen >= 16 && control.len >= 16 ? (control.len - 16) / 4 : 0;
	// MSG_TRUNC | MSG_CTRUNC: half a message is none.
	if ((msg.flags & 0x28) || n < (s64)sizeof *h || h->magic != MAGIC || h->size != n || h->files != files) {
		report(RECORD_FAILED, h->seq, -1, EINVAL_, 0);
	} else {
		carry_out(h, control.fds, files);
		if (n > MESSAGE_KEPT)
			call(SYS_madvise, message + 4096, (n - 1) & ~4095L, 4 /* MADV_DONTNEED */, 0);
	}
	for (u32 i = 0; i < files; i++)
		call(SYS_close, control.fds[i], 0, 0, 0);
	return 1;
}

#ifdef ANCESTOR
void serve(void) { quit(126); }
#else
static s64 beget(s64 cgroup) { (void)cgroup; return -EINVAL_; }
static s64 stop_others(s32 *numbers, u64 n) { (void)numbers, (void)n; return -EINVAL_; }
static s64 resume_others(void) { return -EINVAL_; }
static void come_back(void) { quit(126); }

// serve is the whole life of this program.
__attribute__((noreturn)) void serve(void)
{
	u64 sigchld = 1UL << (17 - 1);
	call(SYS_rt_sigprocmask, 0, &sigchld, 0, 8);
	s64 signals = call(SYS_signalfd4, -1, &sigchld, 8, 0x80800); // CLOEXEC | NONBLOCK
	s64 left = 0; // what reap has said: more than 0, others may be dead
	idle = 1;
	used = 0; // those of whoever forked us are not ours
	if (signals < 0)
		quit(126);
	if (carrying) {
		if (signals != SIGNALS)
			signals = call(SYS_dup3, signals, SIGNALS, 0x80000, 0);
		for (int i = 0; i < 3; i++)
			hang_up(i);
	}
	for (;;) {
		struct { s32 fd; u16 events, revents; } fds[5] = {{CONTROL, 1, 0}, {signals, 1, 0}, {-1, 0, 0}, {-1, 0, 0}, {-1, 0, 0}};
		u8 info[128];
		if (input_end > 0)
			fds[2].fd = STREAM, fds[2].events = 4; // POLLOUT
		for (int i = 1; i < 3; i++)
			if (streams[i].open && streams[i].credit > 0)
				fds[2 + i].fd = STREAM + i, fds[2 + i].events = 1;
		struct { s64 s, ns; } at_once = {0, 0};
		call6(SYS_ppoll, (u64)fds, 5, left > 0 ? (u64)&at_once : 0, 0, 8, 0);
		if (fds[1].revents || left > 0) {
			call(SYS_read, signals, info, sizeof info, 0);
			left = reap();
			if (left < 0 && !idle) { // ECHILD
				idle = 1;
				report(RECORD_IDLE, 0, 0, 0, 0);
			}
		}
		if (fds[2].revents)
			pass_input(fds[2].revents);
		for (int i = 1; i < 3; i++)
			if (fds[2 + i].revents)
				pass_output(i);
		if (fds[0].revents && !(carrying ? receive_bytes() : receive()))
			break;
	}
	// Whoever started us is gone. In a pid namespace the kernel kills the rest
	// when its pid 1 ends; elsewhere that is our duty. Who is traced goes on.
	if (!attending && call(SYS_getpid, 0, 0, 0, 0) != 1)
		killtree();
	quit(0);
}

// descriptors counts those that a program starts with, beside the three streams.
static s32 descriptors(void)
{
	s32 n = 0;
	for (s32 fd = 3; fd < 1024; fd++)
		n += call(SYS_fcntl, fd, 1 /* F_GETFD */, 0, 0) >= 0;
	return n > 99 ? 99 : n;
}

#include "stack.h"

// begin is where the kernel starts us; at stack are argc and argv.
__attribute__((noreturn, used)) void begin(u64 *stack)
{
	u64 sigpipe = 1UL << (13 - 1), by_default[4] = {0}; // struct sigaction, with SIG_DFL
	// Whoever has started us may ignore signals, as nohup does, and that is passed on.
	for (s32 signal = 1; signal <= 64; signal++)
		call(SYS_rt_sigaction, signal, by_default, 0, 8); // not SIGKILL and SIGSTOP
	call(SYS_prctl, 29 /* PR_SET_TIMERSLACK */, 50000, 0, 0); // how late they may wake may be another's, too
	if (stack[0] > 1) {
		if (stack[0] > 2) // asked which descriptors somebody forgot, and how many
			quit(descriptors());
		carrying = 1;
		// Blocked and not ignored: a child unblocks all of its signals.
		call(SYS_rt_sigprocmask, 0, &sigpipe, 0, 8);
		if (call(SYS_dup3, 0, CONTROL, 0x80000, 0) < 0 || call(SYS_dup3, 1, OUT, 0x80000, 0) < 0)
			quit(126);
		call(SYS_close_range, STREAM, ~0u, 0, 0); // whatever the container's runtime forgot
		serve();
	}
	settle(stack);
}
#endif
