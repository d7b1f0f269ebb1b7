"""Takes a web server's log apart with regular expressions."""
import re
from collections import Counter, defaultdict

LOG = r"""
10.0.0.1 - - [12/Mar/2024:08:00:01 +0000] "GET /index.html HTTP/1.1" 200 5120
10.0.0.2 - ada [12/Mar/2024:08:00:07 +0000] "POST /login HTTP/1.1" 302 0
10.0.0.1 - - [12/Mar/2024:08:01:44 +0000] "GET /logo.png HTTP/1.1" 200 20480
10.0.0.3 - - [12/Mar/2024:08:02:10 +0000] "GET /missing HTTP/1.1" 404 310
this line is damaged
10.0.0.2 - ada [12/Mar/2024:09:15:00 +0000] "GET /account HTTP/1.1" 200 7168
10.0.0.3 - - [12/Mar/2024:09:16:30 +0000] "GET /missing HTTP/1.1" 404 310
10.0.0.4 - bob [12/Mar/2024:09:59:59 +0000] "DELETE /item/7 HTTP/2" 500 91
"""
LINE = re.compile(
    r"""(?P<host>\S+)\ \S+\ (?P<user>\S+)\ \[(?P<day>[^:]+):(?P<hour>\d\d)[^\]]*\]\ #
        "(?P<method>[A-Z]+)\ (?P<path>\S+)\ HTTP/[\d.]+"\ (?P<status>\d{3})\ (?P<size>\d+)""",
    re.VERBOSE,
)

status, traffic, hours, bad = Counter(), defaultdict(int), Counter(), 0
for line in LOG.strip().splitlines():
    match = LINE.fullmatch(line)
    if not match:
        bad += 1
        continue
    status[match["status"]] += 1
    traffic[match["host"]] += int(match["size"])
    hours[match["hour"]] += 1

print("status:", dict(sorted(status.items())), "damaged lines:", bad)
for host, size in sorted(traffic.items(), key=lambda item: -item[1]):
    print(f"{host:10} {size / 1024:8.2f} KiB")
print("requests by hour:", dict(hours))
print(re.sub(r"(\d+)\.(\d+)\.(\d+)\.\d+", r"\1.\2.\3.x", LOG.strip().splitlines()[0]))
print(re.split(r"\s*[,;]\s*", "red , green;blue ;  yellow"))
print([m.span() for m in re.finditer(r"(?<=a)b+(?!c)", "abbc ab abbb acb")])
