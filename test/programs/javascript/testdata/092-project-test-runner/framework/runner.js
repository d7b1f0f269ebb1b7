const suites = [];
let current = null;

exports.describe = (name, body) => {
  current = { name, tests: [], before: [] };
  suites.push(current);
  body();
};
exports.beforeEach = (action) => current.before.push(action);
exports.it = (name, test) => current.tests.push({ name, test });
exports.it.skip = (name) => current.tests.push({ name });

exports.run = async () => {
  const results = [];
  for (const { name: suite, tests, before } of suites) {
    for (const { name, test } of tests) {
      const result = { suite, name, status: test ? 'passed' : 'skipped' };
      try {
        for (const action of before) await action();
        await test?.();
      } catch (error) {
        Object.assign(result, { status: 'failed', message: error.message });
      }
      results.push(result);
    }
  }
  return results;
};

const MARKS = { passed: '✓', failed: '✗', skipped: '–' };
exports.report = (results) => {
  const lines = [];
  let suite;
  for (const r of results) {
    if (r.suite !== suite) lines.push((suite = r.suite));
    lines.push(`  ${MARKS[r.status]} ${r.name}${r.message ? `: ${r.message}` : ''}`);
  }
  const count = (status) => results.filter((r) => r.status === status).length;
  return [...lines, `${count('passed')} passed, ${count('failed')} failed, ${count('skipped')} skipped`].join('\n');
};
