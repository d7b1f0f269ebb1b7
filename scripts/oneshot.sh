#!/usr/bin/env bash
# Measures what one call of sandbox-run costs beside the very same interpreter
# bare: whole processes, in turns, median and 95th percentile of 50.
set -euo pipefail
cd "$(dirname "$0")/.."
exec python3 - "${1:-bin/sandbox-run}" "${2:-/usr/bin/python3}" "${3:-50}" <<'PYTHON'
import os, statistics, subprocess, sys, tempfile, time

run, python, rounds = sys.argv[1], os.path.realpath(sys.argv[2]), int(sys.argv[3])
version = subprocess.run([python, "-c", "import platform; print(platform.python_version())"], capture_output=True, text=True).stdout.strip()
with tempfile.TemporaryDirectory() as dir:
    source = os.path.join(dir, "hello.py")
    with open(source, "w") as f:
        f.write('print("hello")\n')
    commands = {
        "python bare": [python, source],
        "python in the sandbox": [run, "--output", "raw", "--lang", "python@" + version, source],
        "true bare": ["/bin/true"],
        "true in the sandbox": [run, "--output", "raw", "--lang", "exec", "--", "/bin/true"],
    }
    times = {name: [] for name in commands}
    for i in range(rounds + 3):
        for name, argv in commands.items():
            begin = time.perf_counter()
            subprocess.run(argv, stdout=subprocess.DEVNULL, check=True)
            if i >= 3:
                times[name].append((time.perf_counter() - begin) * 1000)
for name, list in times.items():
    print(f"{name:24}{statistics.median(list):8.2f} ms median{sorted(list)[int(len(list) * 0.95)]:8.2f} ms p95")
for what in ("python", "true"):
    more = statistics.median(times[what + " in the sandbox"]) - statistics.median(times[what + " bare"])
    print(f"{what} costs {more:.2f} ms more, median of {rounds}, load {os.getloadavg()[0]:.1f}")
PYTHON
