// Waits for work where Node loads what comes before the program.
{
  const fs = require('fs');
  const path = require('path');
  const here = path.dirname(__filename);
  const ancestor = path.join(here, 'ancestor.so');
  const descends = fs.existsSync(ancestor);
  if (!descends) { // what is an ancestor's its children do not have
    for (const name of fs.readdirSync(here)) fs.unlinkSync(path.join(here, name));
    fs.rmdirSync(here);
  }
  delete process.env.LD_PRELOAD;
  const silent = Object.getOwnPropertyDescriptor(process, 'noDeprecation');
  try {
    // V8 takes the code of Node's own modules that came with Node only while its flags are what they
    // were then, and compiles them again otherwise, 9 ms of a start. The heap has its limit by now.
    process.noDeprecation = true;
    process.binding('v8').setFlagsFromString('--max-old-space-size=0');
  } catch { // not with this Node
  }
  if (silent) Object.defineProperty(process, 'noDeprecation', silent);
  else delete process.noDeprecation;
  for (const name of BUILTINS) require(name);
  try {
    // What the first line through a pipe needs is compiled when it is first called, 4 ms. This one ends
    // where the pipe would be, and has no colors, for which Node opens 2: that and 1 stay as they are,
    // for a program that writes nothing.
    const pipe = { writeUtf8String: () => 0, getAsyncId: () => 1 };
    const out = new (require('net').Socket)({ handle: pipe, readable: false, writable: true });
    new console.Console({ stdout: out, colorMode: false }).log('', 0);
  } catch { // not with this Node
  }

  if (descends) {
    process.dlopen({ exports: {} }, ancestor); // which only its children leave
    for (const [name, value] of Object.entries({ pid: Number(fs.readlinkSync('/proc/self')), execPath: fs.readlinkSync('/proc/self/exe') })) {
      Object.defineProperty(process, name, { value });
    }
    process.argv[0] = process.execPath;
  }

  const read = (size) => {
    const data = Buffer.alloc(size);
    for (let at = 0; at < size;) {
      const got = fs.readSync(0, data, at, size - at, null);
      if (got === 0) process.reallyExit(0); // there is no work
      at += got;
    }
    return data.toString();
  };
  let cleared = false;
  try {
    fs.fdatasyncSync(0x7fffffff); // near.so says it, once it has forgotten what Node has used of its program
  } catch { // without near.so there is no such descriptor
    fs.writeSync(1, '\x06');
  }
  for (const text of read(parseInt(read(8), 16)).split('\0').slice(0, -1)) {
    const rest = text.slice(1);
    if (text[0] === 'a') {
      process.argv.push(rest);
    } else if (text[0] === 'e') {
      for (const name of cleared ? [] : Object.keys(process.env)) delete process.env[name];
      cleared = true;
      const at = rest.indexOf('=');
      process.env[rest.slice(0, at)] = rest.slice(at + 1);
    } else if (text[0] === 'n') {
      fs.closeSync(0);
      fs.openSync('/dev/null', 'r+'); // is 0 again
    }
  }
  process.execArgv.splice(-2); // --require and this file
  delete require.cache[__filename];
}
