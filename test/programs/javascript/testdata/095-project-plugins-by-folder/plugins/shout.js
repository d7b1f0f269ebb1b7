module.exports = new (class {
  name = 'shout';
  after = ['quotes', 'emoji'];
  apply = (text) => text.replace(/!(\p{L}+)!/gu, (_, word) => word.toUpperCase());
})();
