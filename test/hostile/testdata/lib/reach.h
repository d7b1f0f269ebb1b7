// What a program reaches over the network.
#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

// reach is a connection to one of a name's addresses, or -1; none waits for longer than so many milliseconds.
static inline int reach(const char *host, int port, long most)
{
	char service[8];
	struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *all;
	struct timeval wait = {most / 1000, most % 1000 * 1000};
	int s = -1;
	snprintf(service, sizeof service, "%d", port);
	if (getaddrinfo(host, service, &hints, &all) != 0)
		return -1;
	for (struct addrinfo *a = all; a && s < 0; a = a->ai_next) {
		s = socket(a->ai_family, SOCK_STREAM, 0);
		setsockopt(s, SOL_SOCKET, SO_SNDTIMEO, &wait, sizeof wait);
		setsockopt(s, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof wait);
		if (connect(s, a->ai_addr, a->ai_addrlen) != 0) {
			int error = errno;
			close(s);
			s = -1, errno = error;
		}
	}
	freeaddrinfo(all);
	return s;
}

// answers asks for a page, and says so when something comes back.
static inline void answers(const char *host, int port)
{
	const char request[] = "GET /health HTTP/1.0\r\n\r\n";
	char reply[10];
	int s = reach(host, port, 1000);
	if (s < 0)
		return;
	if (send(s, request, sizeof request - 1, MSG_NOSIGNAL) > 0 && recv(s, reply, sizeof reply, 0) > 0)
		printf("an answer of %s %d\n", host, port);
	close(s);
}
