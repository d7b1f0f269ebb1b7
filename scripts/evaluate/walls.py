# Runs inside: one line of what a program sees of the walls around it.
import os, socket
status = dict(line.split(":\t", 1) for line in open("/proc/self/status") if ":\t" in line)
def attempt(action):
    try:
        return action()
    except OSError as error:
        return error.strerror.lower()
print(" | ".join([
    os.uname().release,
    str(os.getuid()),
    "none" if not int(status.get("CapEff", "0"), 16) else "0x" + status["CapEff"].strip().lstrip("0"),
    {"0": "no", "1": "yes"}.get(status.get("NoNewPrivs", "").strip(), "not shown"),
    {"0": "no", "2": "yes"}.get(status.get("Seccomp", "").strip(), "not shown"),
    attempt(lambda: ", ".join(name for _, name in socket.if_nameindex()) or "no interface"),
    attempt(lambda: open("/usr/probe", "w").close() or os.remove("/usr/probe") or "writable"),
    str(sum(name.isdigit() for name in os.listdir("/proc"))),
]))
