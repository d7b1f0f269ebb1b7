// What a program tries that must be refused: an attempt that works is a line of output,
// and so is one that is refused in another way than the row says.
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define WORDS(...) ((const long[7]){__VA_ARGS__})
#define AT(p) ((long)(p))

static const int denied[] = {EPERM, ENOSYS, 0};

// call is a system call: its number, and its arguments.
static inline long call(const long *w)
{
	errno = 0;
	return syscall(w[0], w[1], w[2], w[3], w[4], w[5], w[6]);
}

// refused is one that must fail with one of the errors.
static inline void refused(const char *what, const int *errors, const long *w)
{
	long value = call(w);
	int error = value == -1 ? errno : 0;
	for (; *errors; errors++)
		if (*errors == error)
			return;
	printf("%s: returned %ld, %s\n", what, value, strerror(error));
	fflush(stdout);
}

// fails is a value that must be that of a failure.
static inline void fails(const char *what, const char *of, long value)
{
	if (value == -1)
		return;
	printf("%s %s: worked\n", what, of);
	fflush(stdout);
}

// processes are the ids of those that can be seen, but this one: how many.
static inline int processes(int *ids, int most)
{
	int n = 0;
	DIR *d = opendir("/proc");
	for (struct dirent *e; d && n < most && (e = readdir(d));)
		if (atoi(e->d_name) > 0 && atoi(e->d_name) != getpid())
			ids[n++] = atoi(e->d_name);
	if (d)
		closedir(d);
	return n;
}
