// stream.h: what a server does that has no socket (part of init.c).
//
// It serves standard input and output, and the streams of programs travel between
// the records: of what a program writes as much as the peer has asked for, of what
// it reads one chunk at a time.

static u8 carried[CHUNK];          // of a stream
static struct {
	int open;
	u64 credit; // 1, 2: bytes that are wanted
} streams[3];
static u8 input[CHUNK]; // what the program has not taken yet
static u32 input_at, input_end;

// put writes all of it. A peer that is gone is seen as end of file by serve.
static void put(u8 *p, u64 n)
{
	while (n) {
		s64 done = call(SYS_write, OUT, p, n, 0);
		if (done == EINTR_)
			continue;
		if (done <= 0)
			return;
		p += done;
		n -= done;
	}
}

// get reads n bytes, or says that there are no more.
static int get(u8 *p, u64 n)
{
	while (n) {
		s64 done = call(SYS_read, CONTROL, p, n, 0);
		if (done == EINTR_)
			continue;
		if (done <= 0)
			return 0;
		p += done;
		n -= done;
	}
	return 1;
}

static void report_bytes(u32 kind, u32 seq, s32 a, u8 *bytes, u64 n)
{
	struct record r = {0};
	r.usage[11] = n;
	report(kind, seq, a, 0, &r);
	put(bytes, n);
}

// carry makes a descriptor that of a stream.
static s64 carry(u64 stream, s64 fd)
{
	if (!carrying || stream > 2)
		return -EINVAL_;
	s64 ret = call(SYS_dup3, fd, STREAM + stream, 0x80000, 0);
	if (ret >= 0) {
		streams[stream].open = 1;
		streams[stream].credit = 0;
		if (stream == 0)
			input_at = input_end = 0;
	}
	return ret;
}

// hang_up gives up a stream. Its descriptor stays taken, so that no other becomes
// it.
static void hang_up(int stream)
{
	call(SYS_dup3, SIGNALS, STREAM + stream, 0x80000, 0);
	streams[stream].open = 0;
}

// pass_output sends what a program has written, as far as it is wanted.
static void pass_output(int stream)
{
	u64 n = streams[stream].credit < CHUNK ? streams[stream].credit : CHUNK;
	s64 done = call(SYS_read, STREAM + stream, carried, n, 0);
	if (done == EINTR_ || done == EAGAIN_)
		return;
	if (done <= 0) { // EIO: a terminal that nobody has open
		done = 0;
		hang_up(stream);
	}
	streams[stream].credit -= done;
	report_bytes(RECORD_OUTPUT, 0, stream, carried, done);
}

// pass_input gives the program what it takes without waiting.
static void pass_input(u16 events)
{
	s64 done = call(SYS_write, STREAM, input + input_at, input_end - input_at, 0);
	if (done == EINTR_)
		return;
	if (done == EAGAIN_) {
		if (!(events & 0x18)) // POLLERR, POLLHUP
			return;
		done = EIO_; // a terminal that is full, and that nobody has open
	}
	if (done < 0)
		hang_up(0);
	else if ((input_at += done) < input_end)
		return;
	input_at = input_end = 0;
	report(RECORD_INPUT, 0, done < 0 ? -done : 0, 0, 0);
}

// take_input remembers bytes for the program. The peer sends more when it was
// told that these are gone.
static s64 take_input(u32 n)
{
	if (n > CHUNK || input_end > 0)
		quit(125);
	if (!get(input, n))
		return 0;
	if (n == 0 && streams[0].open)
		hang_up(0);
	else if (n > 0 && !streams[0].open)
		report(RECORD_INPUT, 0, -EPIPE_, 0, 0);
	else
		input_end = n;
	return 1;
}

// receive_bytes reads one message of a server without a socket and carries it
// out. It returns 0 at end of file. A peer that says anything else is none.
static s64 receive_bytes(void)
{
	struct header *h = (struct header *)message;
	if (!get(message, sizeof *h))
		return 0;
	if (h->size < sizeof *h)
		quit(125);
	u32 rest = h->size - sizeof *h;
	switch (h->magic) {
	case MAGIC_INPUT:
		return take_input(rest);
	case MAGIC_CREDIT: // steps: stream, relocs: bytes
		if (h->steps < 1 || h->steps > 2 || rest)
			quit(125);
		streams[h->steps].credit += h->relocs;
		return 1;
	case MAGIC:
		break;
	default:
		quit(125);
	}
	if (h->size > MESSAGE_MAX || h->files > MESSAGE_MAX - h->size)
		quit(125);
	if (!get(message + sizeof *h, rest))
		return 0;
	memset(message + h->size, 0, h->files);
	carry_out(h, 0, 0);
	// What a message opens, it closes; what it could not close is closed here.
	if (call(SYS_close_range, PASSING, ~0u, 0, 0) < 0)
		for (int fd = PASSING; fd < 256; fd++)
			call(SYS_close, fd, 0, 0, 0);
	return 1;
}
