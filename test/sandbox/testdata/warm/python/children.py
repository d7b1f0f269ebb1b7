# with: {"stdin": "to the child\n"}
import multiprocessing, os, subprocess, sys


def work(n):
    return n * n, multiprocessing.current_process().name


if __name__ == "__main__":
    print(subprocess.run([sys.executable, "-c", "import sys; print(sys.argv, sys.path, sys.stdin.read())"], capture_output=True, text=True), flush=True)
    print(subprocess.run(["env"], capture_output=True, text=True).stdout, flush=True)
    pid = os.fork()
    if not pid:
        os._exit(5)
    print(os.waitpid(pid, 0)[1])
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        print(pool.map(work, [1, 2]))
