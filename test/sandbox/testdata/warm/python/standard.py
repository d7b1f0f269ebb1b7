# with: {"files": {"random.py": "print('mine'); value = 4"}}
# with: {"files": {"json/__init__.py": "print('mine too')\ndumps = repr"}}
# with: {"files": {"enum.txt": "no module"}}
import json, random, sys
print(json.dumps([1]), getattr(random, "value", None), random.__file__, json.__file__)
import collections, datetime, math, re
print(collections.__file__, re.__file__, collections.Counter("aab"), datetime.date(2020, 2, 29), math.tau, re.sub("a", "b", "aa"))
