// with: {"args": ["a b", "", "ü"], "env": {"FOO": "bar=baz", "EMPTY": ""}}
// with: {"stdin": "one\ntwo\n"}
const fs = require("fs");
console.log(process.argv, process.argv0, process.execArgv, process.execPath, process.title, process.cwd(), process.umask());
console.log(process.env, Object.keys(process.env));
console.log(require.main === module, module.id, module.filename, module.loaded, module.parent, module.children, module.paths, Object.keys(require.cache), __filename);
console.log(Object.keys(globalThis), Object.getOwnPropertyNames(globalThis).sort().join());
console.log(fs.readdirSync("."), fs.readdirSync("/tmp"));
console.log(process.pid, process.ppid, process.getuid(), process.getgroups(), process.features, process.allowedNodeEnvironmentFlags.size);
console.log([0, 1, 2].map((n) => fs.readlinkSync(`/proc/self/fd/${n}`).split(":")[0]), [0, 1, 2].map((n) => fs.fstatSync(n).mode & fs.constants.S_IFMT));
console.log(process._getActiveHandles().length, process._getActiveRequests().length, process.listenerCount("exit"), process.eventNames());
console.log(JSON.stringify(fs.readFileSync(0, "utf8")), process.stdin.isTTY, process.stdout.isTTY, process.stdout.writable);
console.log(new Error("here").stack);
