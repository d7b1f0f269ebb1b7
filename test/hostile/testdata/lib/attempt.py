"""What a program tries that must be refused: an attempt that works is a line of
output, and so is one that is refused in another way than the row says."""
import ctypes
import errno
import os
import sys

libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long


def call(number, *args):
    """A system call by its number: what it returns, and the name of its error."""
    ctypes.set_errno(0)
    words = [a if isinstance(a, (ctypes.Array, ctypes.Structure, bytes)) or a is None else ctypes.c_long(a) for a in args]
    value = libc.syscall(ctypes.c_long(number), *words)
    return value, errno.errorcode.get(ctypes.get_errno(), "?") if value == -1 else ""


def refused(what, number, *args, errors=("EPERM", "ENOSYS")):
    """A system call that must fail with one of the errors."""
    value, error = call(number, *args)
    if error not in errors:
        print(f"{what}: returned {value} {error}", flush=True)


def fails(what, attempt, *errors):
    """A function that must raise OSError, with one of the errors if some are named."""
    try:
        value = attempt()
    except OSError as e:
        name = errno.errorcode.get(e.errno, str(e))
        if errors and name not in errors:
            print(f"{what}: {name}", flush=True)
    else:
        print(f"{what}: worked, {value!r}", flush=True)


def child(attempt):
    """A function in a process of its own: its exit code, or minus the signal that ended it."""
    sys.stdout.flush()
    pid = os.fork()
    if pid == 0:
        code = 255
        try:
            code = attempt() or 0
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def processes():
    """The ids of all processes but this one that can be seen."""
    return [int(p) for p in os.listdir("/proc") if p.isdigit() and int(p) != os.getpid()]
