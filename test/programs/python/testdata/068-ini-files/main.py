"""Configuration in the INI form: defaults, interpolation, types; written and read back."""
import configparser
import io

TEXT = """
[DEFAULT]
root = /srv
retries = 3

[paths]
data = %(root)s/data
logs = %(root)s/logs
    and a second line

[server]
name = größer
port = 8080
secure = yes
ratio = 0.75
retries = 5
; a comment
empty =
"""

config = configparser.ConfigParser()
config.read_string(TEXT)
for section in config.sections():
    print(f"[{section}]")
    for key, value in config.items(section):
        print(f"  {key} = {value!r}")
server = config["server"]
print(server.getint("port") + 1, server.getboolean("secure"), server.getfloat("ratio") * 2, server.get("absent", "fallback"))
print("inherited:", config.getint("paths", "retries"), "has:", config.has_option("server", "root"))

config.add_section("added")
config["added"]["when"] = "100%% now"
del config["server"]["name"]
with open("settings.ini", "w", encoding="utf-8") as file:
    config.write(file)
again = configparser.ConfigParser()
print("read:", again.read(["settings.ini", "missing.ini"], encoding="utf-8"), again["added"]["when"])
print("equal after the round trip:", {s: dict(again[s]) for s in again} == {s: dict(config[s]) for s in config})
for broken in ("[a]\nx = 1\nx = 2", "x = 1", "[a]\ny = %(z)s"):
    try:
        bad = configparser.ConfigParser()
        bad.read_file(io.StringIO(broken))
        print(bad["a"]["y"])
    except configparser.Error as error:
        print(type(error).__name__)
