"""Runs the cases of evaluate.sh in turns and prints their figures in Markdown.

Each round starts every case once; none has a block of its own, so that a slow
minute of the machine is shared by all. A round waits for a quiet moment as long
as there is patience left, and what others computed meanwhile is reported.
"""

import argparse
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

EXPECTED = {"true": b"", "python": b"hello\n"}
# Daemons and shims clean up after the client has gone: their CPU time belongs to
# the run, so the clock is read a little later.
SETTLE_SECONDS = 0.1
# Others may use this much of a core when a round starts.
QUIET_CORES = 0.25
# How many ask at a time while the cores are saturated.
CLIENTS = (1, 2, 4, 16)
MIB = 1 << 20

serial = itertools.count(1)
kept = threading.local()


class Machine:
    """The CPU clocks: of our group, and of everybody."""

    def __init__(self, clock):
        self.clock = clock
        self.group = os.path.dirname(clock)

    def ours(self):
        """CPU seconds that the group has used, children that ended included."""
        with open(self.clock) as file:
            text = file.read()
        if self.clock.endswith("cpu.stat"):
            return int(text.split()[1]) / 1e6
        return int(text) / 1e9

    @staticmethod
    def everybody():
        """CPU seconds that the machine has been busy; its resolution is 10 ms."""
        with open("/proc/stat") as file:
            user, nice, system, _, _, irq, softirq = map(int, file.readline().split()[1:8])
        return (user + nice + system + irq + softirq) / os.sysconf("SC_CLK_TCK")

    def foreign(self):
        return self.everybody() - self.ours()

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
            before = self.foreign()
            time.sleep(0.5)
            if self.foreign() - before <= 0.5 * QUIET_CORES:
                return


class Wrong(Exception):
    """A case ended otherwise than its program does: something else was measured."""


def request(address, body):
    """What a program wrote that a server has run, by a connection that is kept."""
    if not hasattr(kept, "connection"):
        kept.connection = http.client.HTTPConnection(address)
    kept.connection.request("POST", "/execute", body, {"Content-Type": "application/json"})
    answer = kept.connection.getresponse().read()
    result = json.loads(answer)
    if result.get("status") != "ok":
        raise Wrong(f"the server says {answer.decode()[-400:]}")
    return result["stdout"].encode()


def command(argv):
    """What a command wrote."""
    done = subprocess.run(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if done.returncode != 0:
        raise Wrong(f"{shlex.join(argv)} ended with {done.returncode}: {(done.stderr or done.stdout).decode()[-400:]}")
    return done.stdout


def fresh(argv):
    """A case that is like none before: no two containers have the same name, and no two
    programs the same source where that could be remembered."""
    number = str(next(serial))
    return [word.replace("@ID@", number) for word in argv]


def run(argv, name):
    """Runs a case to its end and returns the seconds it took, and what it wrote."""
    argv = fresh(argv)
    start = time.perf_counter()
    output = request(*argv[1:]) if argv[0] == "POST" else command(argv)
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
    """The wall and CPU seconds of each case, a pair a round, and the cores' worth
    of time that others took meanwhile."""
    figures = defaultdict(list)
    foreign = busy = 0.0
    for number in range(-1, rounds):  # the round before the first fills the caches
        machine.wait_until_quiet(deadline)
        others, began = machine.foreign(), time.monotonic()
        for case, argv in rotated(cases, number):
            before = machine.ours()
            seconds, _ = run(argv, case[1])
            time.sleep(SETTLE_SECONDS)
            if number >= 0:
                figures[case].append((seconds, machine.ours() - before))
        if number >= 0:
            foreign += machine.foreign() - others
            busy += time.monotonic() - began
    return figures, foreign / busy


def saturate(machine, argv, name, clients, seconds):
    """Has so many clients run a case again and again, and returns how often it was
    done, in how many seconds, for how many of the processors' seconds."""
    done, failed = [], []
    before, start = machine.ours(), time.monotonic()

    def client():
        try:
            while time.monotonic() - start < seconds and not failed:
                run(argv, name)
                done.append(None)
        except Exception as error:  # of a thread: the main one raises it
            failed.append(error)

    threads = [threading.Thread(target=client) for _ in range(clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failed:
        raise failed[0]
    elapsed = time.monotonic() - start
    time.sleep(SETTLE_SECONDS)
    return len(done), elapsed, machine.ours() - before


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
    The mean, since work of a daemon may fall into the next run's window."""
    if not pairs:
        return ["–"] * 4
    walls = sorted(wall * 1e3 for wall, _ in pairs)
    late = [walls[math.ceil(part * len(walls)) - 1] for part in (0.95, 0.99)]
    cpu = statistics.fmean(cpu * 1e3 for _, cpu in pairs)
    return [f"{value:.1f}" for value in (statistics.median(walls), *late, cpu)]


def print_figures(figures, held, missing):
    print("\nOne run, from start to reaped, in milliseconds:\n")
    head("technology", "`true` median", "p95", "p99", "CPU", "python median", "p95", "p99", "CPU", "beside the program")
    for technology in dict.fromkeys(case[0] for case in figures):
        stays = held.get(technology)
        cell = f"{stays[0] / MIB:.1f} MiB in {stays[1]}" if stays and stays[1] else "–"
        row(technology, *spread(figures.get((technology, "true"))), *spread(figures.get((technology, "python"))), cell)
    for technology, reason in missing:
        row(technology, f"not measured: {reason}", *[""] * 8)


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
    timed = {case: argv for case, argv in cases.items() if case[1] in EXPECTED}
    load = os.getloadavg()[0]
    deadline = time.monotonic() + arguments.patience
    figures, foreign = measure(machine, timed, arguments.rounds, deadline)
    print_figures(figures, held, read_missing(arguments.missing))
    python = {case: argv for case, argv in timed.items() if case[1] == "python"}
    print_throughput(throughput(machine, python, arguments.slice, arguments.turns))
    print_daemons(machine)
    print(f"\nLoad before the rounds {load:.2f}; other work on the machine took {foreign:.2f} of a core while they ran.")


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
