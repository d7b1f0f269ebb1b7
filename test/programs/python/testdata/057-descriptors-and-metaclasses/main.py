"""Validated fields, classes that register themselves, operators, slots."""
from abc import ABC, abstractmethod


class Checked:
    def __init__(self, kind, check=lambda value: True):
        self.kind, self.check = kind, check

    def __set_name__(self, owner, name):
        self.name = "_" + name

    def __get__(self, instance, owner):
        return self if instance is None else getattr(instance, self.name)

    def __set__(self, instance, value):
        if not isinstance(value, self.kind) or not self.check(value):
            raise TypeError(f"{self.name[1:]} cannot be {value!r}")
        setattr(instance, self.name, value)


class Person:
    name = Checked(str, str.strip)
    age = Checked(int, lambda age: 0 <= age < 150)

    def __init__(self, name, age):
        self.name, self.age = name, age


class Plugin(ABC):
    known = {}

    def __init_subclass__(cls, tag, **kwargs):
        super().__init_subclass__(**kwargs)
        Plugin.known[tag] = cls

    @abstractmethod
    def run(self, text):
        ...


class Shout(Plugin, tag="shout"):
    def run(self, text):
        return text.upper() + "!"


class Whisper(Plugin, tag="whisper"):
    def run(self, text):
        return f"({text.lower()})"


class Singleton(type):
    def __call__(cls, *args):
        if not hasattr(cls, "_only"):
            cls._only = super().__call__(*args)
        return cls._only


class Config(metaclass=Singleton):
    def __init__(self, value):
        self.value = value


class Slim:
    __slots__ = ("x",)

    def __getattr__(self, name):
        return f"no {name}"


person = Person("Åsa", 42)
print(person.name, person.age)
for name, value in (("age", 200), ("age", "old"), ("name", "  ")):
    try:
        setattr(person, name, value)
    except TypeError as error:
        print(error)
for tag, plugin in sorted(Plugin.known.items()):
    print(tag, plugin().run("Grüße"))
try:
    type("Half", (Plugin,), {}, tag="half")()
except TypeError:
    print("an abstract class cannot be built")
print(Config(1) is Config(2), Config(3).value)
slim = Slim()
slim.x = 5
print(slim.x, slim.y)
try:
    slim.z = 1
except AttributeError:
    print("slots refuse z")
