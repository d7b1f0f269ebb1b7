"""Runs the cases of evaluate.sh in turns and prints their figures in Markdown.

Each round starts every case once; none has a block of its own, so that a slow
minute of the machine is shared by all. A round waits for a quiet moment as long
as there is patience left, and what others computed meanwhile is reported.
"""

import argparse
import contextlib
import http.client
import itertools
import json
import math
import os
import shlex
import statistics
import subprocess
import sys
import threading
import time
from collections import defaultdict

MIB = 1 << 20
EXPECTED = {"true": b"", "python": b"hello\n", "sort": b"0.49930818840893765\n", "pipe": b"%d" % (256 * MIB)}
SMALL, WORK = ("true", "python"), ("sort", "pipe")
# How many times the work is done at most.
WORK_ROUNDS = 5
# Daemons and shims clean up after the client has gone, and servers replace what was
# used: that belongs to the run. So some time passes, and more until our processors
# have worked no longer than this in a window, as in internal/bench.
SETTLE_SECONDS = 0.1
WINDOW_SECONDS, AT_REST_SECONDS, REST_PATIENCE_SECONDS = 0.05, 0.02, 10
# Others may use this much of a core when a round starts.
QUIET_CORES = 0.25
# How many ask at a time while the cores are saturated; evaluate.sh has a bundle for each.
CLIENTS = (1, 2, 4, 16)
CORES = len(os.sched_getaffinity(0))

serial = itertools.count(1)


class Own(threading.local):
    """What each client has for itself: a number and a connection that is kept."""

    number = 0
    connection = None


own = Own()


class Machine:
    """The CPU clocks: of our group, and of everybody."""

    def __init__(self, clock):
        self.clock = clock
        self.group = os.path.dirname(clock)
        # What others took and what was stolen while we watched, and for how long we did.
        self.taken = self.lost = self.watched = 0.0

    def ours(self):
        """CPU seconds that the group has used, children that ended included."""
        with open(self.clock) as file:
            text = file.read()
        if self.clock.endswith("cpu.stat"):
            return int(text.split()[1]) / 1e6
        return int(text) / 1e9

    def others(self):
        """CPU seconds that others on the machine have used, and those that the machine
        below it gave away (steal); their resolution is 10 ms."""
        with open("/proc/stat") as file:
            ticks = map(int, file.readline().split()[1:9])
        user, nice, system, _, _, irq, softirq, steal = (tick / os.sysconf("SC_CLK_TCK") for tick in ticks)
        return user + nice + system + irq + softirq - self.ours(), steal

    @contextlib.contextmanager
    def watch(self):
        """Adds up what is not ours meanwhile."""
        (taken, lost), began = self.others(), time.monotonic()
        yield
        now = self.others()
        self.taken += now[0] - taken
        self.lost += now[1] - lost
        self.watched += time.monotonic() - began

    def processes(self):
        """The pids in the group and below it."""
        pids = set()
        for folder, _, _ in os.walk(self.group):
            with open(os.path.join(folder, "cgroup.procs")) as file:
                pids.update(map(int, file))
        return pids

    def wait_until_quiet(self, deadline):
        """Waits for a moment without much other work, and gives up at the deadline."""
        while time.monotonic() < deadline:
            before, _ = self.others()
            time.sleep(0.5)
            if self.others()[0] - before <= 0.5 * QUIET_CORES:
                return

    def rest(self):
        """Waits until what the last run has left to be done is done."""
        time.sleep(SETTLE_SECONDS)
        deadline = time.monotonic() + REST_PATIENCE_SECONDS
        while time.monotonic() < deadline:
            before = self.ours()
            time.sleep(WINDOW_SECONDS)
            if self.ours() - before <= AT_REST_SECONDS:
                return
        print(f"measure: no rest within {REST_PATIENCE_SECONDS} s: the next case bears a part of the last one", file=sys.stderr)


class Wrong(Exception):
    """A case ended otherwise than its program does: something else was measured."""


def request(address, body):
    """What a program wrote that a server has run, by a connection that is kept."""
    kept = own.connection
    own.connection = kept or http.client.HTTPConnection(address)
    try:
        answer = post(body).read()
    except (http.client.RemoteDisconnected, BrokenPipeError):  # closed, since nobody used it for minutes
        if not kept:
            raise
        kept.close()
        answer = post(body).read()
    result = json.loads(answer)
    if result.get("status") != "ok":
        raise Wrong(f"the server says {answer.decode()[-400:]}")
    return result["stdout"].encode()


def post(body):
    own.connection.request("POST", "/execute", body, {"Content-Type": "application/json"})
    return own.connection.getresponse()


def counted(argv):
    """How many bytes a command wrote, which are not kept."""
    buffer = bytearray(MIB)
    with subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, bufsize=0) as child:
        total = sum(iter(lambda: child.stdout.readinto(buffer), 0))
    if child.returncode != 0:
        raise Wrong(f"{shlex.join(argv)} ended with {child.returncode}")
    return b"%d" % total


def command(argv):
    """What a command wrote."""
    done = subprocess.run(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if done.returncode != 0:
        raise Wrong(f"{shlex.join(argv)} ended with {done.returncode}: {(done.stderr or done.stdout).decode()[-400:]}")
    return done.stdout


def fresh(argv):
    """A case that is like none before: no two containers have the same name, and no two
    programs the same source where that could be remembered; and with what the client has
    for itself."""
    number, client = str(next(serial)), str(own.number)
    return [word.replace("@ID@", number).replace("@CLIENT@", client) for word in argv]


def run(argv, name):
    """Runs a case to its end and returns the seconds it took, and what it wrote."""
    argv = fresh(argv)
    start = time.perf_counter()
    if argv[0] == "POST":
        output = request(*argv[1:])
    else:
        output = counted(argv) if name == "pipe" else command(argv)
    seconds = time.perf_counter() - start
    if output != EXPECTED.get(name, output):
        raise Wrong(f"{shlex.join(argv)} wrote {output[-400:]}")
    return seconds, output.decode()


def rotated(cases, number):
    """The cases from another one on each time: nobody is always behind the same."""
    pairs = list(cases.items())
    begin = number % len(pairs)
    return pairs[begin:] + pairs[:begin]


def measure(machine, cases, rounds, deadline):
    """The wall and CPU seconds of each case, a pair a round."""
    figures = defaultdict(list)
    for number in range(-1, rounds):  # the round before the first fills the caches
        machine.wait_until_quiet(deadline)
        with machine.watch():
            for case, argv in rotated(cases, number):
                before = machine.ours()
                seconds, _ = run(argv, case[1])
                machine.rest()
                if number >= 0:
                    figures[case].append((seconds, machine.ours() - before))
    return figures


def saturate(machine, argv, name, clients, seconds):
    """Has so many clients run a case again and again, and returns how often it was
    done, in how many seconds, for how many of the processors' seconds. What is left to
    be done behind them lasts as long as it takes on all processors."""
    done, failed = [], []
    before, start = machine.ours(), time.monotonic()

    def client(number):
        own.number = number
        try:
            while time.monotonic() - start < seconds and not failed:
                run(argv, name)
                done.append(None)
        except Exception as error:  # of a thread: the main one raises it
            failed.append(error)

    threads = [threading.Thread(target=client, args=[number]) for number in range(clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failed:
        raise failed[0]
    elapsed, used = time.monotonic() - start, machine.ours() - before
    machine.rest()
    cpu = machine.ours() - before
    return len(done), elapsed + (cpu - used) / CORES, cpu


def throughput(machine, cases, seconds, turns):
    """The sums of saturate() for each technology and number of clients, in turns."""
    sums = {}
    for turn in range(turns):
        for clients in CLIENTS:
            for (technology, name), argv in rotated(cases, turn):
                figures = saturate(machine, argv, name, clients, seconds)
                key = technology, clients
                sums[key] = [a + b for a, b in zip(sums.get(key, [0, 0, 0]), figures)]
    return sums


def memory(pid, field, file):
    """A figure of a process in bytes; 0 when it has just ended, or is a thread of
    the kernel."""
    try:
        with open(f"/proc/{pid}/{file}") as lines:
            return sum(int(line.split()[1]) << 10 for line in lines if line.startswith(field + ":"))
    except (FileNotFoundError, ProcessLookupError):
        return 0


def command_name(pid):
    try:
        with open(f"/proc/{pid}/comm") as file:
            return file.read().strip()
    except (FileNotFoundError, ProcessLookupError):
        return ""


def beside(machine, argv):
    """Bytes and number of the processes that stand beside a program while it runs."""
    before = machine.processes()
    child = subprocess.Popen(fresh(argv), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    time.sleep(2)
    pids = [pid for pid in machine.processes() - before if command_name(pid) not in ("sleep", "")]
    total = sum(memory(pid, "Pss", "smaps_rollup") for pid in pids)
    if child.wait() != 0:
        raise Wrong(f"{shlex.join(argv)} ended with {child.returncode}")
    time.sleep(1)
    return total, len(pids)


def row(*cells):
    print("| " + " | ".join(map(str, cells)) + " |")


def head(*cells):
    row(*cells)
    row(*("---" for _ in cells))


def spread(pairs):
    """Median, 95th and 99th percentile of wall time and mean CPU time, in milliseconds.
    The mean, since work of a daemon may fall into the next run's window. A percentile
    that a single run would decide is left out."""
    if not pairs:
        return ["–"] * 4
    walls = sorted(wall * 1e3 for wall, _ in pairs)
    late = [walls[math.ceil(part * len(walls)) - 1] if len(walls) >= least else None for part, least in ((0.95, 20), (0.99, 100))]
    cpu = statistics.fmean(cpu * 1e3 for _, cpu in pairs)
    return ["–" if value is None else f"{value:.1f}" for value in (statistics.median(walls), *late, cpu)]


def print_figures(figures, held, missing):
    print("\nOne run, from start to reaped, in milliseconds:\n")
    head("technology", "`true` median", "p95", "p99", "CPU", "python median", "p95", "p99", "CPU", "beside the program")
    for technology in dict.fromkeys(case[0] for case in figures):
        stays = held.get(technology)
        cell = f"{stays[0] / MIB:.1f} MiB in {stays[1]}" if stays and stays[1] else "–"
        row(technology, *spread(figures.get((technology, "true"))), *spread(figures.get((technology, "python"))), cell)
    for technology, reason in missing:
        row(technology, f"not measured: {reason}", *[""] * 8)


def print_work(figures):
    print(f"\nWork, in milliseconds and in terms of bare; medians of {len(figures['bare', WORK[0]])}:\n")
    head("technology", "sort 400,000 numbers", "256 MiB through stdout")
    medians = {case: statistics.median(wall * 1e3 for wall, _ in pairs) for case, pairs in figures.items()}
    for technology in dict.fromkeys(technology for technology, _ in medians):
        pairs = [(medians.get((technology, name)), medians["bare", name]) for name in WORK]
        row(technology, *(f"{median:.0f} ({median / bare:.2f})" if median else "–" for median, bare in pairs))


def print_throughput(sums):
    print("\nPython programs a second, and what one of four clients' takes of the processors, in milliseconds:\n")
    head("technology", *(f"{n} client{'s' * (n > 1)}" for n in CLIENTS), "CPU")
    for technology in dict.fromkeys(technology for technology, _ in sums):
        rates = [sums[technology, n][0] / sums[technology, n][1] for n in CLIENTS]
        count, _, cpu = sums[technology, 4]
        row(technology, *(f"{rate:.1f}" for rate in rates), f"{cpu / count * 1e3:.1f}")


def print_daemons(machine):
    daemons = [(command_name(pid), memory(pid, "VmHWM", "status")) for pid in machine.processes()]
    listed = [f"{name} {peak / MIB:.0f} MiB" for name, peak in sorted(daemons) if name in ("dockerd", "containerd", "sandbox-server")]
    print(f"\nPeak resident memory of what stays when nothing runs: {', '.join(listed)}.")


def print_walls(cases):
    print("\nWhat the program sees of its isolation:\n")
    head("technology", "kernel", "uid", "capabilities", "no_new_privs", "seccomp", "network", "write to /usr", "processes in /proc")
    for (technology, name), argv in cases.items():
        if name == "walls":
            row(technology, run(argv, name)[1].strip())


def read_cases(path):
    with open(path) as file:
        records = [record.split("\t", 2) for record in file.read().split("\0") if record]
    return {(technology, name): shlex.split(command) for technology, name, command in records}


def read_missing(path):
    with open(path) as file:
        return [line.rstrip("\n").split("\t", 1) for line in file]


def tell(arguments):
    """Measures, and prints as it goes."""
    machine, cases = Machine(arguments.clock), read_cases(arguments.cases)
    print_walls(cases)
    held = {case[0]: beside(machine, argv) for case, argv in cases.items() if case[1] == "hold"}
    small, work = ({case: argv for case, argv in cases.items() if case[1] in names} for names in (SMALL, WORK))
    load = os.getloadavg()[0]
    deadline = time.monotonic() + arguments.patience
    print_figures(measure(machine, small, arguments.rounds, deadline), held, read_missing(arguments.missing))
    print_work(measure(machine, work, min(arguments.rounds, WORK_ROUNDS), deadline))
    python = {case: argv for case, argv in small.items() if case[1] == "python"}
    with machine.watch():
        sums = throughput(machine, python, arguments.slice, arguments.turns)
    print_throughput(sums)
    print_daemons(machine)
    print(f"\nLoad before the rounds {load:.2f}; while it was measured other work on the machine took",
          f"{machine.taken / machine.watched:.2f} of a core, and {100 * machine.lost / machine.watched / CORES:.1f} %",
          "of the processors' time was stolen.")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, required=True)
    parser.add_argument("--patience", type=float, required=True, help="seconds to wait for quiet moments, in all")
    parser.add_argument("--slice", type=float, default=2, help="seconds of each turn of throughput")
    parser.add_argument("--turns", type=int, default=2, help="turns of throughput")
    parser.add_argument("--clock", required=True, help="cpuacct.usage or cpu.stat of a group that holds us")
    parser.add_argument("cases")
    parser.add_argument("missing")
    try:
        tell(parser.parse_args())
    except Wrong as error:
        sys.exit(f"measure: {error}")


main()
