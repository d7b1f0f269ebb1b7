"""Counts primes in ranges with several processes and gathers the results in order."""
from multiprocessing import Pool, Process, Queue


def count_primes(bounds):
    start, stop = bounds
    return sum(n > 1 and all(n % d for d in range(2, int(n**0.5) + 1)) for n in range(start, stop))


def echo(incoming, outgoing):
    for message in iter(incoming.get, None):
        outgoing.put(message[::-1])


if __name__ == "__main__":
    ranges = [(n, n + 1000) for n in range(0, 8000, 1000)]
    with Pool(2) as pool:
        counts = pool.map(count_primes, ranges)
    for (start, stop), count in zip(ranges, counts):
        print(f"{start:5}..{stop - 1:5} {count:4} primes")
    print("together", sum(counts))

    there, back = Queue(), Queue()
    child = Process(target=echo, args=(there, back))
    child.start()
    for word in ("stressed", "héllo 你好 🦀", None):
        there.put(word)
    print(back.get(), back.get())
    child.join()
    print("child ended with", child.exitcode)
