const { fork } = require("child_process");
if (process.argv[2] === "child") {
  process.send([process.argv, process.execArgv]);
} else {
  setImmediate(() => console.log("immediate"));
  setTimeout(() => {
    console.log("timeout");
    fork(__filename, ["child"]).on("message", (m) => console.log(m));
  }, 200); // longer than anything before it takes
  process.nextTick(() => console.log("tick"));
  Promise.resolve().then(() => console.log("micro"));
  console.log("main", require("async_hooks").executionAsyncId());
}
