# Waits for work in the place of the user's own usercustomize, which site imports last.


def unlisted(name):
    """Import a module and leave no trace of that."""
    import sys

    listed = name in sys.modules
    module = __import__(name)
    if not listed:
        del sys.modules[name]
    return module


def spare():
    """Spare a forked interpreter the rest of its end, where nobody could tell.

    At its end CPython takes apart what it has made, object by object. That writes to most of what a
    fork has in common with its ancestor, and gives back memory which the kernel takes back
    at once. A program leaves before if nothing is left of it that does more at its end than free
    memory, no other thread is there, its streams lead to where they did, and it has loaded no library of
    which nobody knows what its objects do. All that a program registers is called by then, since
    this is registered first. Whoever does not leave hands the collector what was frozen, for what does
    more may hang on that, as all that a class of the program reaches does which typing remembers.

    The result is called before the program begins, with a function that leaves, or with None for a program
    that has its end as ever.
    """
    import sys
    from builtins import BaseException, all, any, getattr, id, map, type  # whatever a program makes of them

    def native(module):
        return not (getattr(module, "__file__", None) or "").endswith(".py")

    if sys.version_info < (3, 10):
        return None  # who imports atexit once more has nothing registered
    if any(hasattr(m, "__file__") and native(m) for m in sys.modules.values()):
        return None
    import _thread
    import io
    from _weakref import CallableProxyType, ProxyType, ref
    from os import fstat, get_blocking

    atexit, gc = unlisted("atexit"), unlisted("gc")
    if atexit._ncallbacks():
        return None
    leave, modules, blocks, pipes = None, None, 0, None
    streams = sys.stdout, sys.stderr
    classes, variables = vars(type)["__mro__"].__get__, vars(type)["__dict__"].__get__

    # Which objects of a kind that does more do nothing.
    quiet = {id(kind): lambda thing: True for kind in (io.StringIO, io.BytesIO)}
    for kind in io.FileIO, io.BufferedReader, io.BufferedWriter, io.BufferedRandom, io.TextIOWrapper:
        quiet[id(kind)] = lambda thing: thing.closed
    quiet[id(type(x for x in ()))] = lambda thing: thing.gi_frame is None
    builtin, references = type(id), [id(kind) for kind in (ref, ProxyType, CallableProxyType)]

    def of_abc(thing):
        called = thing.__callback__
        return called is None or type(called) is builtin and called.__name__ == "_destroy"

    quiet[id(ref)] = of_abc

    def loud(things):
        for key, kind in {id(kind): kind for kind in map(type, things)}.items():
            if any(id(c) in references or "__del__" in variables(c) for c in classes(kind)):
                silent = quiet.get(key)
                if not silent or not all(silent(thing) for thing in things if type(thing) is kind):
                    return True
        return False

    def led():
        return [(get_blocking(n), *fstat(n)[:3]) for n in (1, 2)]

    def noticed():
        if sys.stdout is not streams[0] or sys.stderr is not streams[1] or led() != pipes:
            return True  # they may fail, which has a message and a status
        if _thread._count() or any(native(sys.modules[name]) for name in sys.modules.keys() - modules):
            return True
        # To look at very many takes longer than is spared.
        return sys.getallocatedblocks() - blocks > 1 << 15 or loud(gc.get_objects())

    def end():
        try:
            if not noticed():
                for stream in streams:
                    stream.flush()
                leave()
        except BaseException:
            pass
        gc.unfreeze()

    def begin(how):
        nonlocal leave, modules, blocks, pipes
        leave, modules, blocks, pipes = how, frozenset(sys.modules), sys.getallocatedblocks(), led()
        if not how:
            atexit.unregister(end)

    atexit.register(end)
    return begin


def wait():
    import os
    import sys

    here = os.path.dirname(__file__)
    sys.path.remove(here)
    sys.path_importer_cache.pop(here, None)
    del os.environ["PYTHONPATH"]
    names = os.listdir(here)
    ancestor = here + "/ancestor.so" if "ancestor.so" in names else None
    if not ancestor:  # what is an ancestor's its children do not have
        for name in names:
            os.unlink(here + "/" + name)
        os.rmdir(here)
    if sys.meta_path[-1].find_spec("usercustomize"):
        os._exit(1)  # an installation has its own, in whose place this would be

    begin = spare() if ancestor else None
    plain = frozenset(sys.modules)
    for name in STANDARD:
        __import__(name)

    def read(size):
        data = b""
        while len(data) < size:
            part = os.read(0, size - len(data))
            if not part:
                os._exit(0)  # there is no work
            data += part
        return data

    # Of what is here the collector finds nothing at the end, where it looks three times.
    # What is frozen it does not look at. __main__, which is the program's, is made anew for
    # that, and what a program might notice is undone below.
    gc = unlisted("gc")
    frozen = hasattr(gc, "freeze") and not gc.get_freeze_count()  # 3.12 has some of its own
    if frozen:
        gc.freeze()
        new = type(sys)("__main__")
        new.__dict__.update(sys.modules["__main__"].__dict__)
        sys.modules["__main__"] = new
        del new

    if ancestor:  # which only its children leave, as that ends
        import _imp

        spec = type(sys.__spec__)("ancestor", None, origin=ancestor)
        leave = None
        try:
            _imp.create_dynamic(spec)
        except ImportError as said:
            if frozen and said.args:
                (leave,) = said.args
        del spec

    environment, script = [], None
    os.write(1, b"\x06")
    for text in read(int(read(8), 16)).split(b"\0")[:-1]:
        kind, text = text[:1], text[1:]
        if kind == b"a":
            sys.argv.append(os.fsdecode(text))
            if hasattr(sys, "orig_argv"):
                sys.orig_argv.append(os.fsdecode(text))
        elif kind == b"e":
            environment.append(text.split(b"=", 1))
        elif kind == b"s":
            script = os.fsdecode(text)
        elif kind == b"n":
            null = os.open(os.devnull, os.O_RDWR)
            os.dup2(null, 0)
            os.close(null)

    if environment:
        os.environb.clear()
        os.environb.update(environment)

    # When and as whom these were imported, which they tell the program.
    imported = sys.modules.get
    if imported("logging"):
        now = imported("time").time_ns if isinstance(imported("logging")._startTime, int) else imported("time").time
        imported("logging")._startTime = now()
    if imported("threading") and hasattr(imported("threading").main_thread(), "_set_native_id"):
        imported("threading").main_thread()._set_native_id()

    # A program that speaks of the collector has it as ever. So has one that speaks of what would see that
    # something of ours is called at its end (of other functions for that, of tracing, of code
    # that comes from elsewhere), or of scandir, whose objects the collector does not know. What
    # a program of several files speaks of nobody reads. Where nobody looks at the end, one that speaks of
    # objects that do more at theirs than free memory has the collector as ever, too.
    names = [name for name in os.listdir(".") if not script or os.path.dirname(script) != os.path.abspath(name)]
    if frozen:
        source = b"gc"
        if len(names) == 1:
            program = os.open(names[0], os.O_RDONLY)
            source = os.read(program, 1 << 20)
            os.close(program)
        if begin and leave:
            words = b"gc atexit trace profile monitoring breakpoint pdb audithook exec eval scandir"
        else:
            words = b"gc __del__ ref final exec open File IOWrapper Buffered makefile yield async await"
        if len(source) == 1 << 20 or any(word in source for word in words.split()):
            gc.unfreeze()
            leave = None

    # A file beside the program comes before a module of the standard library.
    for name in names if STANDARD else ():
        if name.partition(".")[0] in sys.modules and name != "main.py":
            for name in frozenset(sys.modules) - plain:
                del sys.modules[name]
            break

    if begin:
        begin(leave)
    if script:
        with open(script, encoding="utf-8") as file:
            source = file.read()
        exec(compile(source, script, "exec"), {"__name__": "script", "__file__": script})

    # What site takes for "there is none": this module leaves no trace.
    raise ImportError(name="usercustomize")


wait()
