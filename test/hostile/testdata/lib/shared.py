"""What two runs could share: devices, toolchains, /etc, /proc, namespaces."""
import os
import sys
import time


def names():
    """Paths that can be opened, of each kind."""
    found = ["/dev/" + n for n in ("null", "zero", "full", "random", "urandom", "ptmx", "tty", "shm", "pts", "")]
    found += ["/", "/etc", "/tmp", "/usr", "/usr/bin", "/usr/bin/env", "/bin/sh", "/proc/version", "/proc/sys", "/proc/meminfo", "/proc/kcore", "/proc/keys"]
    found += [sys.executable, os.__file__, os.path.dirname(os.__file__)]
    found += ["/etc/" + n for n in ("passwd", "group", "hosts", "ld.so.cache", "nsswitch.conf", "resolv.conf", "alternatives")]
    found += ["/proc/self/" + n for n in ("fd/0", "fd/1", "fd/2", "exe", "cwd", "root", "status", "stat", "net/unix")]
    found += ["/proc/" + n for n in os.listdir("/proc") if not n.isdigit()]
    found += ["/proc/self/ns/" + n for n in os.listdir("/proc/self/ns")]
    for line in open("/proc/self/mountinfo"):
        found.append(line.split()[4])
    for line in open("/proc/self/maps"):
        if "/" in line:
            found.append(line.split()[-1])
    return sorted(set(os.path.normpath(n) for n in found))
