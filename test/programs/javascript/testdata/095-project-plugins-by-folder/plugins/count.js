module.exports = {
  name: 'count',
  after: ['shout'],
  apply(text, context) {
    context.words = text.match(/\p{L}+/gu).length;
  },
};
