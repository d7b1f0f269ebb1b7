# with: {"env": {"OPENSSL_CONF": "/workspace/legacy.cnf"}, "files": {"legacy.cnf": "openssl_conf = all\n[all]\nproviders = both\n[both]\ndefault = on\nlegacy = on\n[on]\nactivate = 1\n"}}
import hashlib, logging, os, threading
record = logging.makeLogRecord({})
print(record.created - record.relativeCreated / 1000 >= os.stat("main.py").st_mtime)
print(threading.main_thread().native_id == threading.get_native_id())
try:
    print(hashlib.new("md4", b"").hexdigest())
except ValueError:
    print("no md4")
