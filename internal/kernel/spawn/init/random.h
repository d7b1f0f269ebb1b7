// random.h: where V8 has the state of its random numbers.
//
// Math.random begins in each context with what an isolate's generator gives, which is seeded when the
// isolate is made: before a fork. How to reach the generator V8 tells nobody (Node 24 exports no
// function of it), but it is easily known: an object that the isolate points to, with its first seed and
// a state that follows from that.

enum {
	ISOLATE_BYTES = 256 << 10, // more than an isolate has
	GENERATORS_MAX = 4,
	DRAWS_MAX = 100000, // by the time a Node waits it has drawn some hundreds
#if defined(__x86_64__)
	SYS_getrandom = 318, SYS_process_vm_readv = 310,
#else
	SYS_getrandom = 278, SYS_process_vm_readv = 270,
#endif
};

// generator is V8's base::RandomNumberGenerator: xorshift128+ (S. Vigna, "Further scramblings of
// Marsaglia's xorshift generators", 2014), with a state that is its seed through MurmurHash3's finalizer.
struct generator {
	u64 seed, state[2];
};

static struct generator *generators[GENERATORS_MAX];

static u64 mix(u64 h)
{
	h = (h ^ h >> 33) * 0xff51afd7ed558ccd;
	h = (h ^ h >> 33) * 0xc4ceb9fe1a85ec53;
	return h ^ h >> 33;
}

static void sow(struct generator *g, u64 seed)
{
	g->seed = seed;
	g->state[0] = mix(seed);
	g->state[1] = mix(~g->state[0]);
}

// is_generator tells whether a state follows from a seed. Most of what an isolate points to has small
// numbers and addresses in it, which is seen at once; one state of 32,000 is taken for such.
static int is_generator(struct generator *g)
{
	struct generator other;
	if (!(g->state[0] >> 48) || !(g->state[1] >> 48))
		return 0;
	sow(&other, g->seed);
	for (int i = 0; i < DRAWS_MAX; i++) {
		u64 a = other.state[0], b = other.state[1];
		if (a == g->state[0] && b == g->state[1])
			return 1;
		a ^= a << 23;
		other.state[0] = b;
		other.state[1] = a ^ a >> 17 ^ b ^ b >> 26;
	}
	return 0;
}

// look copies memory that may not be there.
static s64 look(void *from, void *to, u64 size)
{
	struct { void *at; u64 size; } ours = {to, size}, there = {from, size};
	return call6(SYS_process_vm_readv, call(SYS_getpid, 0, 0, 0, 0), (u64)&ours, 1, (u64)&there, 1, 0);
}

// find_generators finds those of an isolate, and gives how many there are.
static int find_generators(u8 *isolate)
{
	int found = 0;
	for (u64 at = 0; at < ISOLATE_BYTES && found < GENERATORS_MAX; at += sizeof(u64)) {
		struct generator *candidate, is;
		if (look(isolate + at, &candidate, sizeof candidate) != sizeof candidate)
			break;
		if ((u64)candidate % sizeof(u64) || look(candidate, &is, sizeof is) != sizeof is || !is_generator(&is))
			continue;
		generators[found++] = candidate;
	}
	return found;
}

// sow_anew seeds them by the kernel's own.
static void sow_anew(void)
{
	for (int i = 0; i < GENERATORS_MAX && generators[i]; i++) {
		u64 seed;
		if (call(SYS_getrandom, &seed, sizeof seed, 0, 0) != sizeof seed)
			quit(126);
		sow(generators[i], seed);
	}
}
