# Waits for work in the place of the user's own usercustomize, which site imports last.


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
    known = "gc" in sys.modules
    import gc

    frozen = hasattr(gc, "freeze") and not gc.get_freeze_count()  # 3.12 has some of its own
    if frozen:
        gc.freeze()
        new = type(sys)("__main__")
        new.__dict__.update(sys.modules["__main__"].__dict__)
        sys.modules["__main__"] = new
        del new
    if not known:
        del sys.modules["gc"]

    if ancestor:  # which only its children leave, as that ends
        import _imp

        spec = type(sys.__spec__)("ancestor", None, origin=ancestor)
        try:
            _imp.create_dynamic(spec)
        except ImportError:
            pass
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

    # A program that speaks of the collector, or of the end of an object, has it as ever. So has one
    # with something that does more at its end than free memory, such as a file: it may hang on what
    # is frozen, as all that a class of the program reaches does which typing remembers, and would
    # never end. What a program of several files speaks of nobody reads.
    names = os.listdir(".")
    if frozen:
        source = b"gc"
        if len(names) == 1:
            program = os.open(names[0], os.O_RDONLY)
            source = os.read(program, 1 << 20)
            os.close(program)
        words = b"gc __del__ ref final exec open File IOWrapper Buffered makefile yield async await"
        if len(source) == 1 << 20 or any(word in source for word in words.split()):
            gc.unfreeze()

    # A file beside the program comes before a module of the standard library.
    for name in names if STANDARD else ():
        if name.partition(".")[0] in sys.modules and name != "main.py":
            for name in frozenset(sys.modules) - plain:
                del sys.modules[name]
            break

    if script:
        with open(script, encoding="utf-8") as file:
            source = file.read()
        exec(compile(source, script, "exec"), {"__name__": "script", "__file__": script})

    # What site takes for "there is none": this module leaves no trace.
    raise ImportError(name="usercustomize")


wait()
