// Children of its own: pipes, exit codes, signals, input, environment, messages.
const { spawn, spawnSync, execFile, fork } = require('node:child_process');
const { once } = require('node:events');

if (process.argv[2] === 'child') {
  process.on('message', ({ numbers }) => {
    process.send({ sum: numbers.reduce((a, b) => a + b), text: '完了 ✓' });
    process.disconnect();
  });
} else {
  const node = (code, options) => spawnSync(process.execPath, ['-e', code], { encoding: 'utf8', ...options });
  console.log(node('console.log(process.argv0.length > 0, 6 * 7)').stdout.trim());
  console.log(node('process.stdin.pipe(process.stdout)', { input: 'héllo 你好 🦀' }).stdout);
  const failed = node('console.error("to stderr"); process.exit(9)');
  console.log(failed.status, JSON.stringify(failed.stderr));
  console.log(node('console.log(process.env.WORD, process.cwd() === require("fs").realpathSync("."))', { env: { WORD: 'größe' } }).stdout.trim());
  const stuck = node('setInterval(() => {}, 1000)', { timeout: 150 });
  console.log('stuck one ended by', stuck.signal, stuck.error.code);

  (async () => {
    const child = spawn(process.execPath, ['-e', 'for (let i = 0; i < 3; i++) console.log("line", i)']);
    let text = '';
    child.stdout.on('data', (data) => (text += data));
    const [code] = await once(child, 'close');
    console.log(code, JSON.stringify(text));

    const sleeper = spawn(process.execPath, ['-e', 'console.log("up"); setInterval(() => {}, 1000)']);
    await once(sleeper.stdout, 'data');
    sleeper.kill('SIGTERM');
    console.log('killed:', await once(sleeper, 'exit'));

    const missing = spawn('./no-such-program');
    console.log('missing:', (await once(missing, 'error'))[0].code);
    await new Promise((done) => execFile(process.execPath, ['-p', '"x".repeat(5)'], (error, stdout) => done(console.log(error, stdout.trim()))));

    const worker = fork(__filename, ['child']);
    worker.send({ numbers: [1, 2, 3.5] });
    console.log((await once(worker, 'message'))[0]);
    console.log('worker left with', (await once(worker, 'exit'))[0]);
  })();
}
