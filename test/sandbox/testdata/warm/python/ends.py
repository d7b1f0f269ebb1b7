# How a program ends that does not speak of what a forked interpreter would look for in its source.
# with: {"args": ["finished generator"]}
# with: {"args": ["suspended generator"]}
# with: {"args": ["closed file"]}
# with: {"args": ["file"]}
# with: {"args": ["file of its own"]}
# with: {"args": ["object"]}
# with: {"args": ["object without a dictionary"]}
# with: {"args": ["object in a module"]}
# with: {"args": ["object in a cycle"]}
# with: {"args": ["object in a class that typing remembers"]}
# with: {"args": ["object, later"]}
# with: {"args": ["weak reference"]}
# with: {"args": ["weak proxy"]}
# with: {"args": ["weak dictionary"]}
# with: {"args": ["finalize"]}
# with: {"args": ["metaclass"]}
# with: {"args": ["abstract class"]}
# with: {"args": ["coroutine"]}
# with: {"args": ["daemon"]}
# with: {"args": ["late thread"]}
# with: {"args": ["pool"]}
# with: {"args": ["logging"]}
# with: {"args": ["status"]}
# with: {"args": ["text"]}
# with: {"args": ["exception"]}
# with: {"args": ["exception with an object"]}
# with: {"args": ["interrupt"]}
# with: {"args": ["terminated"]}
# with: {"args": ["child"]}
# with: {"args": ["other output"]}
# with: {"args": ["closed output"]}
# with: {"args": ["full output"]}
# with: {"args": ["no output"]}
# with: {"args": ["detached output"]}
# with: {"args": ["no memory"]}
# with: {"args": ["many objects"]}
# with: {"args": ["database"]}
# with: {"args": ["database in a class that typing remembers"]}
# with: {"args": ["no output, later"]}
# with: {"args": ["no modules"]}
# with: {"args": ["no builtins"]}
import sys

way = sys.argv[1] if len(sys.argv) > 1 else ""


def noted(name):
    class Noted:
        def __del__(self):
            print("gone", name, sys is not None)

    return Noted()


def say(connection, text):
    getattr(connection, "e" + "xecute")(text)


class Plain:
    pass


def leaving(name):
    try:
        yield
    finally:
        print("left", name)


if way == "finished generator":
    generator = leaving(way)
    print(list(generator))
elif way == "suspended generator":
    generator = leaving(way)
    next(generator)
elif way == "closed file":
    with open("file.txt", "w") as file:
        file.write("written")
elif way == "file":
    file = open("file.txt", "w")
    file.write("written at the end")
elif way == "file of its own":
    import io

    class Own(io.RawIOBase):
        def close(self):
            print("closed", self.closed)
            super().close()

    own = Own()
elif way == "object":
    thing = noted(way)
elif way == "object without a dictionary":
    class Bare:
        __slots__ = ()

        def __del__(self):
            print("gone", way)

    bare = Bare()
elif way == "object in a module":
    sys.mine = noted(way)
elif way == "object in a cycle":
    thing = noted(way)
    thing.me = thing
    del thing
elif way == "object in a class that typing remembers":
    import typing

    class Remembered:
        thing = noted(way)

    optional = typing.Optional[Remembered]
    del Remembered, optional
elif way == "object, later":
    plain = Plain()
    Plain.__del__ = lambda self: print("gone", way)
elif way == "weak reference":
    import json, weakref

    json.plain = Plain()
    sys.mine = weakref.ref(json.plain, lambda reference: print("gone", way))
elif way == "weak proxy":
    import json, weakref

    json.plain = Plain()
    sys.mine = weakref.proxy(json.plain, lambda reference: print("gone", way))
elif way == "weak dictionary":
    import weakref

    dictionary = weakref.WeakKeyDictionary({Plain: 1})
elif way == "finalize":
    import weakref

    plain = Plain()
    weakref.finalize(plain, print, "finalized")
    setattr(weakref.finalize(Plain, print, "not finalized"), "at" + "exit", False)
elif way == "metaclass":

    class Meta(type):
        def __getattribute__(cls, name):
            print("asked for", name)
            return super().__getattribute__(name)

        def __hash__(cls):
            print("asked for its hash")
            return 1

        def __del__(cls):
            print("gone")

    class Made(metaclass=Meta):
        @property
        def __class__(self):
            print("asked for its class")
            return int

    made = Made()
elif way == "abstract class":
    import abc, collections.abc

    class Abstract(abc.ABC):
        @abc.abstractmethod
        def method(self):
            pass

    print(isinstance(3, Abstract), isinstance([], collections.abc.Sequence))
elif way == "coroutine":

    async def coroutine():
        print("never")

    waiting = coroutine()
elif way == "daemon":
    import threading, time

    threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
elif way == "late thread":
    import threading, time

    threading.Thread(target=lambda: (time.sleep(0.05), print("late"))).start()
elif way == "pool":
    import concurrent.futures

    pool = getattr(concurrent.futures, "ThreadPoolE" + "xecutor")(1)
    future = pool.submit(lambda: print("submitted"))
elif way == "logging":
    import logging, logging.handlers

    memory = logging.handlers.MemoryHandler(10, target=logging.StreamHandler(sys.stdout))
    logging.getLogger().addHandler(memory)
    logging.warning("remembered")
elif way == "status":
    sys.stdout.write("not flushed")
    sys.exit(3)
elif way == "text":
    sys.exit("said")
elif way == "exception":
    raise ValueError(way)
elif way == "exception with an object":
    def failing():
        thing = noted(way)
        raise ValueError(way)

    failing()
elif way == "interrupt":
    import os, signal

    os.kill(os.getpid(), signal.SIGINT)
elif way == "terminated":
    import os, signal

    sys.stdout.write("not flushed")
    os.kill(os.getpid(), signal.SIGTERM)
elif way == "child":
    import os

    sys.stdout.flush()
    if not os.fork():
        print("child")
        sys.exit(5)
    print(os.WEXITSTATUS(os.wait()[1]))
elif way == "other output":

    class Other:
        def write(self, text):
            sys.__stdout__.write("other " + text)

        def flush(self):
            sys.__stdout__.write("flushed")

    sys.stdout = Other()
elif way == "closed output":
    sys.stdout.close()
elif way == "full output":
    import os

    sys.stdout.flush()
    os.dup2(os.open("/dev/full", os.O_WRONLY), 1)
    print("lost")
elif way == "no output":
    import os

    print("lost")
    os.close(1)
elif way == "detached output":
    buffer = sys.stdout.detach()
    buffer.write(b"not flushed")
elif way == "no memory":
    import resource

    resource.setrlimit(resource.RLIMIT_DATA, (0, 0))
    resource.setrlimit(resource.RLIMIT_AS, (0, 0))
elif way == "many objects":
    objects = [[i] for i in range(100000)]
    objects.append(open("file.txt", "w"))
    objects[-1].write("written at the end")
elif way == "database":
    import sqlite3

    connection = sqlite3.connect("data.db")
    say(connection, "PRAGMA journal_mode=WAL")
    say(connection, "CREATE TABLE t (i)")
    connection.commit()
elif way == "database in a class that typing remembers":
    import sqlite3, typing

    class Store:
        connection = sqlite3.connect("data.db")

    optional = typing.Optional[Store]
    say(Store.connection, "CREATE TABLE t (i)")
    Store.connection.commit()
    say(Store.connection, "INSERT INTO t VALUES (1)")
    del Store, optional
elif way == "no output, later":
    import os, threading, time

    def late():
        time.sleep(0.05)
        os.close(1)
        sys.stdout.write("x" * 6000)

    threading.Thread(target=late).start()
elif way == "no modules":
    sys.stdout.write("not flushed")
    sys.modules.clear()
elif way == "no builtins":
    import builtins

    builtins.type = builtins.id = builtins.any = builtins.map = lambda *args: print("called", args)
if way not in ("closed output", "detached output"):
    print("end of", way)
