"""Turns the specification that `runc spec` writes into one as strict as the
options that docker and podman get, for one program.

    bundle.py CONFIG.JSON ROOT CGROUP COMMAND-LINE
"""

import json
import shlex
import sys

# The profile of docker and podman, from Debian's golang-github-containers-common.
SECCOMP = "/usr/share/containers/seccomp.json"
MIB = 1 << 20


def seccomp():
    """The part of the profile for a process without capabilities: an OCI runtime
    does not know the conditions that engines resolve before."""
    with open(SECCOMP) as file:
        profile = json.load(file)
    calls = []
    for rule in profile["syscalls"]:
        includes = rule.get("includes") or {}
        if includes.get("caps") or "amd64" not in includes.get("arches", ["amd64"]):
            continue
        if "amd64" in (rule.get("excludes") or {}).get("arches", []):
            continue
        kept = ("names", "action", "args", "errnoRet")
        calls.append({key: rule[key] for key in kept if rule.get(key)})
    return {
        "defaultAction": profile["defaultAction"],
        "defaultErrnoRet": profile.get("defaultErrnoRet", 1),
        "architectures": ["SCMP_ARCH_X86_64"],
        "syscalls": calls,
    }


def confine(config, root, cgroup, command):
    process = config["process"]
    process.update(terminal=False, args=shlex.split(command), noNewPrivileges=True)
    process["user"] = {"uid": 65534, "gid": 65534}
    process["capabilities"] = {kind: [] for kind in process["capabilities"]}
    config["root"] = {"path": root, "readonly": True}
    config["mounts"].append({"destination": "/tmp", "type": "tmpfs", "source": "tmpfs"})
    linux = config["linux"]
    linux["cgroupsPath"] = cgroup
    linux["seccomp"] = seccomp()
    linux["resources"].update(
        memory={"limit": 512 * MIB, "swap": 512 * MIB},
        pids={"limit": 128},
        cpu={"period": 100_000, "quota": 100_000},
    )


def main():
    path, root, cgroup, command = sys.argv[1:]
    with open(path) as file:
        config = json.load(file)
    confine(config, root, cgroup, command)
    with open(path, "w") as file:
        json.dump(config, file)


main()
