"""Handles its own signals: an alarm, a user signal, an interrupt as an exception."""
import os
import signal
import time

received = []


def remember(number, frame):
    received.append(signal.Signals(number).name)


for name in ("SIGUSR1", "SIGUSR2", "SIGTERM", "SIGALRM"):
    signal.signal(getattr(signal, name), remember)

os.kill(os.getpid(), signal.SIGUSR1)
os.kill(os.getpid(), signal.SIGTERM)
signal.raise_signal(signal.SIGUSR2)
signal.setitimer(signal.ITIMER_REAL, 0.02)
while "SIGALRM" not in received:
    time.sleep(0.005)
print("received:", sorted(received))

signal.signal(signal.SIGINT, signal.default_int_handler)
try:
    os.kill(os.getpid(), signal.SIGINT)
    time.sleep(1)
except KeyboardInterrupt:
    print("interrupt became an exception")

signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR1})
os.kill(os.getpid(), signal.SIGUSR1)
print("while blocked:", received.count("SIGUSR1"), "pending:", [s.name for s in signal.sigpending()])
signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGUSR1})
print("after unblocking:", received.count("SIGUSR1"))

signal.signal(signal.SIGTERM, signal.SIG_DFL)
pid = os.fork()
if pid == 0:
    time.sleep(30)
    os._exit(0)
os.kill(pid, signal.SIGTERM)
_, status = os.waitpid(pid, 0)
print("child ended by", signal.Signals(os.WTERMSIG(status)).name)
