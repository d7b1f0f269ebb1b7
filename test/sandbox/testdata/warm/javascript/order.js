const { fork } = require("child_process");
if (process.argv[2] === "child") {
  process.send([process.argv, process.execArgv]);
} else {
  setImmediate(() => console.log("immediate"));
  setTimeout(() => console.log("timeout"), 5);
  process.nextTick(() => console.log("tick"));
  Promise.resolve().then(() => console.log("micro"));
  fork(__filename, ["child"]).on("message", (m) => console.log(m));
  console.log("main", require("async_hooks").executionAsyncId());
}
