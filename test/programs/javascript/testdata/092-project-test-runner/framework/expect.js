const { isDeepStrictEqual, inspect } = require('node:util');

exports.expect = (actual) => {
  const matcher = (negated) => {
    const check = (holds, text) => {
      if (holds === negated) throw new Error(`${inspect(actual)} ${negated ? 'should not' : 'should'} ${text}`);
    };
    return {
      toEqual: (expected) => check(isDeepStrictEqual(actual, expected), `equal ${inspect(expected)}`),
      toContain: (item) => check(actual.includes(item), `contain ${inspect(item)}`),
      toThrow: (kind) => {
        let thrown;
        try {
          actual();
        } catch (error) {
          thrown = error;
        }
        check(thrown instanceof kind, `throw ${kind.name}`);
      },
    };
  };
  return { ...matcher(false), not: matcher(true) };
};
