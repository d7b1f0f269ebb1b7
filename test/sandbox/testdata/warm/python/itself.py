# with: {"args": ["a b", "", "ü"], "env": {"FOO": "bar=baz", "EMPTY": ""}}
# with: {"stdin": "one\ntwo\n"}
import os, sys
m = sys.modules["__main__"]
print(sys.argv, sys.orig_argv, sys.path, sys.flags, sys.executable, sys.prefix, sys.warnoptions, sys._xoptions)
print(sorted(sys.modules))
print(sorted((k, repr(v)) for k, v in vars(m).items() if k not in ("m", "__loader__")), type(m.__loader__), m.__loader__.path)
print({k: v for k, v in os.environ.items()}, list(os.environb) == [k.encode() for k in os.environ])
print(sys.meta_path, [h.__name__ for h in sys.path_hooks], sorted(sys.path_importer_cache))
print(os.getcwd(), os.listdir("."), os.listdir("/tmp"), os.umask(0o22))
print(os.getpid(), os.getppid(), os.getsid(0) == os.getpid(), os.getpgrp() == os.getpid(), os.getresuid(), os.getresgid(), os.getgroups())
print(sorted(os.listdir("/proc/self/fd")), [os.readlink(f"/proc/self/fd/{n}").split(":")[0] for n in (0, 1, 2)])
print(sys.stdin.encoding, sys.stdin.isatty(), sys.stdin.line_buffering, sys.stdout.encoding, sys.stdout.line_buffering, sys.stdout.write_through, sys.stderr.line_buffering)
print(sys.getrecursionlimit(), sys.getswitchinterval(), sys.gettrace(), sys.getprofile(), sys.excepthook is sys.__excepthook__, sys.displayhook is sys.__displayhook__)
print(repr(sys.stdin.read()))
