"""Settings from the environment with defaults, types and an error for a bad one."""
import os
from dataclasses import dataclass, field, fields


@dataclass
class Settings:
    host: str = "localhost"
    port: int = 80
    debug: bool = False
    greeting: str = ""
    tags: list = field(default_factory=list)


READERS = {
    "host": str,
    "port": int,
    "debug": lambda text: {"true": True, "false": False}[text.lower()],
    "greeting": str,
    "tags": lambda text: text.split(","),
}


def load(environment, prefix="APP_"):
    settings = Settings()
    for item in fields(settings):
        text = environment.get(prefix + item.name.upper())
        if text is not None:
            setattr(settings, item.name, READERS[item.name](text))
    return settings


print(load(os.environ))
print(load({}))
try:
    load({"APP_PORT": "eighty"})
except ValueError as error:
    print("bad port:", error)
print("empty is not absent:", os.environ.get("APP_EMPTY"), repr(os.environ.get("APP_EMPTY")), os.getenv("APP_NONE"))
print(os.path.expandvars("$APP_GREETING on ${APP_HOST} $APP_NONE"))
print(os.environ["LANG"], os.environ["TZ"], os.environ["USER"])
os.environ["APP_NEW"] = "ä"
print(sorted(name for name in os.environ if name.startswith("APP_")))
