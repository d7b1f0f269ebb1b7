"""Starts itself as a child: pipes, exit codes, a time limit, an environment of its own."""
import subprocess
import sys

CHILD = """
import os, sys
mode = sys.argv[1]
if mode == 'upper':
    sys.stdout.write(sys.stdin.read().upper())
elif mode == 'fail':
    print('about to fail', file=sys.stderr)
    sys.exit(int(sys.argv[2]))
elif mode == 'env':
    print(os.environ['GREETING'])
elif mode == 'sleep':
    import time
    time.sleep(30)
"""


def child(*arguments, **options):
    return subprocess.run([sys.executable, "-c", CHILD, *arguments], capture_output=True, text=True, **options)


print(child("upper", input="héllo 你好 🦀\nsecond line\n").stdout, end="")
failed = child("fail", "42")
print("exit code", failed.returncode, "and", repr(failed.stderr))
print(child("env", env={"GREETING": "grüezi", "PYTHONIOENCODING": "utf-8", "LANG": "C.UTF-8"}).stdout.strip())
try:
    child("fail", "7", check=True)
except subprocess.CalledProcessError as error:
    print("raised:", error.returncode)
try:
    child("sleep", timeout=0.2)
except subprocess.TimeoutExpired as error:
    print("gave up after", error.timeout, "s")

SORT = "import sys; print(*sorted(sys.stdin.read().split()))"
FIRST = "print(input().split()[:2])"
with subprocess.Popen([sys.executable, "-c", SORT], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as sort:
    first = subprocess.Popen([sys.executable, "-c", FIRST], stdin=sort.stdout, stdout=subprocess.PIPE, text=True)
    print("pear fig apple quince", file=sort.stdin)
    sort.stdin.close()
    print("through a pipeline:", first.communicate()[0].strip(), first.returncode)
