// What arrives as arguments, and a small option parser over it.
const { parseArgs } = require('node:util');

process.argv.slice(2).forEach((argument, i) => console.log(i, JSON.stringify(argument), [...argument].length, Buffer.from(argument).toString('hex')));
const { values, positionals } = parseArgs({
  args: process.argv.slice(2),
  options: {
    name: { type: 'string', short: 'n' },
    verbose: { type: 'boolean', short: 'v' },
    tag: { type: 'string', multiple: true },
  },
  allowPositionals: true,
});
console.log({ ...values }, positionals);
try {
  parseArgs({ args: ['--unknown'], options: {} });
} catch (error) {
  console.log(error.code);
}
