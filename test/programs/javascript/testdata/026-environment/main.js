// Typed settings from the environment, defaults, complaints.
const schema = {
  PORT: { parse: Number, check: (n) => Number.isInteger(n) && n > 0 && n < 65536, fallback: 3000 },
  NAME: { parse: String, check: (s) => s.length > 0, fallback: 'app' },
  FEATURES: { parse: (s) => s.split(',').filter(Boolean), check: () => true, fallback: [] },
  RATIO: { parse: Number, check: (n) => n >= 0 && n <= 1, fallback: 0.5 },
  BROKEN: { parse: Number, check: Number.isFinite, fallback: -1 },
  ABSENT: { parse: String, check: () => true, fallback: 'default' },
};

const settings = {};
const problems = [];
for (const [name, { parse, check, fallback }] of Object.entries(schema)) {
  const text = process.env[name];
  const value = text === undefined ? fallback : parse(text);
  if (check(value)) settings[name] = value;
  else problems.push(`${name}=${JSON.stringify(text)}`);
}
console.log(settings);
console.log('problems:', problems);
console.log(process.env.GREETING, [...process.env.GREETING].length, process.env.EQUALS, process.env.NOTHING, 'NOTHING' in process.env);
console.log(process.env.TZ, process.env.LANG, process.env.USER, process.env.HOME === process.cwd());
process.env.ADDED = 42;
delete process.env.NAME;
console.log(typeof process.env.ADDED, process.env.NAME);
