"""Runs the cases of evaluate.sh in turns and prints their figures in Markdown.

Each round starts every case once; none has a block of its own, so that a slow
minute of the machine is shared by all. A round waits for a quiet moment as long
as there is patience left, and what others computed meanwhile is reported.
"""

import argparse
import math
import os
import shlex
import statistics
import subprocess
import sys
import time
from collections import defaultdict

EXPECTED = {"true": b"", "python": b"hello\n"}
# Daemons and shims clean up after the client has gone: their CPU time belongs to
# the run, so the clock is read a little later.
SETTLE_SECONDS = 0.1
# Others may use this much of a core when a round starts.
QUIET_CORES = 0.25
MIB = 1 << 20


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


def run(argv, name):
    """Runs a case to its end and returns the seconds it took. Another output than
    the program's own is an error: then something else was measured."""
    start = time.perf_counter()
    done = subprocess.run(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    seconds = time.perf_counter() - start
    if done.returncode != 0 or done.stdout != EXPECTED.get(name, done.stdout):
        sys.exit(f"measure: {shlex.join(argv)} ended with {done.returncode}: {(done.stderr or done.stdout).decode()[-400:]}")
    return seconds, done.stdout.decode()


def measure(machine, cases, rounds, deadline):
    """The wall and CPU seconds of each case, a pair a round, and the cores' worth
    of time that others took meanwhile."""
    figures = defaultdict(list)
    foreign = busy = 0.0
    for number in range(-1, rounds):  # the round before the first fills the caches
        machine.wait_until_quiet(deadline)
        others, began = machine.foreign(), time.monotonic()
        for case, argv in cases.items():
            before = machine.ours()
            seconds, _ = run(argv, case[1])
            time.sleep(SETTLE_SECONDS)
            if number >= 0:
                figures[case].append((seconds, machine.ours() - before))
        if number >= 0:
            foreign += machine.foreign() - others
            busy += time.monotonic() - began
    return figures, foreign / busy


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
    except FileNotFoundError:
        return ""


def beside(machine, argv):
    """Bytes and number of the processes that stand beside a program while it runs."""
    before = machine.processes()
    child = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    time.sleep(2)
    pids = [pid for pid in machine.processes() - before if command_name(pid) not in ("sleep", "")]
    total = sum(memory(pid, "Pss", "smaps_rollup") for pid in pids)
    if child.wait() != 0:
        sys.exit(f"measure: {shlex.join(argv)} ended with {child.returncode}")
    time.sleep(1)
    return total, len(pids)


def row(*cells):
    print("| " + " | ".join(map(str, cells)) + " |")


def head(*cells):
    row(*cells)
    row(*("---" for _ in cells))


def spread(pairs):
    """Median and 95th percentile of wall time and mean CPU time, in milliseconds.
    The mean, since work of a daemon may fall into the next run's window."""
    if not pairs:
        return ["–"] * 3
    walls = sorted(wall * 1e3 for wall, _ in pairs)
    p95 = walls[math.ceil(0.95 * len(walls)) - 1]
    cpu = statistics.fmean(cpu * 1e3 for _, cpu in pairs)
    return [f"{value:.1f}" for value in (statistics.median(walls), p95, cpu)]


def print_figures(figures, held, missing):
    print("\nOne run, from start to reaped, in milliseconds:\n")
    head("technology", "`true` median", "p95", "CPU", "python median", "p95", "CPU", "beside the program")
    for technology in dict.fromkeys(case[0] for case in figures):
        stays = held.get(technology)
        cell = f"{stays[0] / MIB:.1f} MiB in {stays[1]}" if stays and stays[1] else "–"
        row(technology, *spread(figures.get((technology, "true"))), *spread(figures.get((technology, "python"))), cell)
    for technology, reason in missing:
        row(technology, f"not measured: {reason}", *[""] * 6)


def print_daemons(machine):
    daemons = [(command_name(pid), memory(pid, "VmHWM", "status")) for pid in machine.processes()]
    listed = [f"{name} {peak / MIB:.0f} MiB" for name, peak in sorted(daemons) if name in ("dockerd", "containerd")]
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


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rounds", type=int, required=True)
    parser.add_argument("--patience", type=float, required=True, help="seconds to wait for quiet moments, in all")
    parser.add_argument("--clock", required=True, help="cpuacct.usage or cpu.stat of a group that holds us")
    parser.add_argument("cases")
    parser.add_argument("missing")
    arguments = parser.parse_args()
    machine, cases = Machine(arguments.clock), read_cases(arguments.cases)

    print_walls(cases)
    held = {case[0]: beside(machine, argv) for case, argv in cases.items() if case[1] == "hold"}
    timed = {case: argv for case, argv in cases.items() if case[1] in EXPECTED}
    load = os.getloadavg()[0]
    deadline = time.monotonic() + arguments.patience
    figures, foreign = measure(machine, timed, arguments.rounds, deadline)
    print_figures(figures, held, read_missing(arguments.missing))
    print_daemons(machine)
    print(f"\nLoad before the rounds {load:.2f}; other work on the machine took {foreign:.2f} of a core while they ran.")


main()
