#!/usr/bin/env bash
# Runs in the guest, as root: starts Debian's Docker engine as its service, gives it the
# image in docker.tar, and shows that sandbox-run's containers of it are held by version 2
# of control groups: what their files say, and what programs meet there.
set -euo pipefail
cd "$(dirname "$0")"
export SANDBOX_DOCKER_IMAGE=sandbox-run-test:vm

systemctl start docker
docker import docker.tar $SANDBOX_DOCKER_IMAGE >/dev/null
docker info --format 'Docker {{.ServerVersion}}, control groups of version {{.CgroupVersion}} by {{.CgroupDriver}}, {{.SecurityOptions}}'
./sandbox-run doctor --runtime docker | sed -n '/^docker/,/^[a-z]/{/^local/!p}'

# The first asks Python for its version, and gives it ten seconds with a container of its
# own: sometimes too few on a busy machine.
hello() { ./sandbox-run --runtime docker --quiet --lang python --code 'print("docker: hello")'; }
hello || hello || hello

failed=0
# What a kernel has to be closed differs from one to the next.
for runtime in oci docker; do
	./sandbox-run doctor --posture --runtime $runtime >posture || failed=1
	printf '%s: %s\n' $runtime "$(tail -n 1 posture | cut -c1-300)"
done
# meets WANT ARGS... runs Python in a container, and looks for a line in what it and
# sandbox-run say.
meets() {
	local want=$1 said
	shift
	said=$(./sandbox-run --runtime docker --lang python "$@" 2>&1) || true
	if grep -qF -e "$want" <<<"$said"; then
		echo "docker: $want"
	else
		failed=1
		printf 'docker: want %s of %s:\n%s\n' "$want" "$*" "$said"
	fi
}

files='from pathlib import Path
print(*(f + "=" + Path("/sys/fs/cgroup", f).read_text().strip() for f in ("memory.max", "memory.swap.max", "pids.max", "cpu.max")))'
meets 'memory.max=67108864 memory.swap.max=0 pids.max=11 cpu.max=500000 1000000' --memory 64m --pids 10 --cpus 0.5 --code "$files"
meets 'limit memory: 64 MiB, reached 6' --memory 64m --code 'bytearray(200 << 20)'
meets 'limit processes: 10 processes, reached 10 processes in the run phase (kernel)' --pids 10 --code '
import os, time
for _ in range(30):
    if os.fork() == 0:
        time.sleep(100)'
meets 'limit cpu_time: 2.00 s' --cpu-time 2s --code 'while True: pass'
exit $failed
