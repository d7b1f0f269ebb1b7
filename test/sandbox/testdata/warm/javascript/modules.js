// with: {"files": {"other.mjs": "export const value = 4"}}
import fs from "node:fs";
console.log(import.meta.url, import.meta.filename, typeof require, this);
console.log(await Promise.resolve(3), fs.existsSync("other.mjs") && (await import("./other.mjs")).value);
process.on("exit", (code) => console.log("exit", code));
