// A test framework in miniature runs the tests of two modules and reports.
const { run, report } = require('./framework/runner');

require('./tests/stack.test');
require('./tests/text.test');

run().then((results) => {
  console.log(report(results));
  process.exitCode = results.some((r) => r.status === 'failed') ? 2 : 0;
});
