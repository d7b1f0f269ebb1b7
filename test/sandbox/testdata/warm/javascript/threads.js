const { Worker, isMainThread, parentPort } = require("worker_threads");
if (isMainThread) new Worker(__filename).on("message", (m) => console.log(m));
else parentPort.postMessage([process.argv, process.execArgv]);
