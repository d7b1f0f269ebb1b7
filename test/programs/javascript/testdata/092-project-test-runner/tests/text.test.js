const { describe, it } = require('../framework/runner');
const { expect } = require('../framework/expect');
const { slug, later } = require('../src/text');

describe('text ñ', () => {
  it('makes slugs', () => expect(slug('Crème Brûlée, 你好 & more!')).toEqual('creme-brulee-你好-more'));
  it('waits', async () => expect(await later('é')).not.toEqual('é'));
  it('fails asynchronously', async () => {
    await Promise.resolve();
    expect(slug('A')).not.toEqual('a');
  });
});
