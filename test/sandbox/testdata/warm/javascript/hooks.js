// with: {"files": {"hooks.mjs": "export async function resolve(name, context, next) { return next(name, context) }"}}
const { existsSync } = require("fs");
if (existsSync("hooks.mjs")) require("node:module").register("./hooks.mjs", require("url").pathToFileURL(__filename));
import("node:os").then((os) => console.log(typeof os.cpus));
