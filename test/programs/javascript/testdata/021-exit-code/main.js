// Sets an exit code while handlers still run.
process.on('exit', (code) => console.log('leaving with', code));

const checks = { 'numbers add up': 1 + 1 === 2, 'strings compare': 'ä' < 'z', 'arrays are equal': [1] == [1], 'dates count': Date.UTC(1970, 0, 2) === 864e5 };
let failed = 0;
for (const [name, holds] of Object.entries(checks)) {
  console.log(holds ? '✓' : '✗', name);
  if (!holds) {
    console.error('failed:', name);
    failed++;
  }
}
process.exitCode = 10 + failed;
setTimeout(() => console.log('a timer still runs'), 1);
