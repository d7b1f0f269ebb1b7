"""Checks numbers in a pool of threads; the results come back in order."""
from concurrent.futures import ThreadPoolExecutor, as_completed


def collatz(n):
    steps = 0
    while n != 1:
        n = 3 * n + 1 if n % 2 else n // 2
        steps += 1
    return steps


def failing(n):
    if n % 4 == 0:
        raise ValueError(f"{n} is a multiple of four")
    return n * n


with ThreadPoolExecutor(max_workers=4) as pool:
    steps = list(pool.map(collatz, range(1, 31)))
    print("steps:", steps)
    longest = max(range(len(steps)), key=steps.__getitem__) + 1
    print(f"longest below 31: {longest} with {collatz(longest)} steps")

    futures = {pool.submit(failing, n): n for n in range(1, 9)}
    outcome = {}
    for future in as_completed(futures):
        try:
            outcome[futures[future]] = str(future.result())
        except ValueError as error:
            outcome[futures[future]] = f"failed: {error}"
for n in sorted(outcome):
    print(n, outcome[n])
