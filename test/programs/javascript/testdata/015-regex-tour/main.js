// Regular expressions: named groups, look-around, sticky, unicode, replacement functions.
const log = `2024-03-01 ERROR [db] timeout after 3000ms
2024-03-01 INFO [web] GET /käse 200 in 12ms
broken line
2024-03-02 ERROR [web] GET /x 500 in 7ms`;

for (const { groups: g } of log.matchAll(/^(?<date>[\d-]+) (?<level>[A-Z]+) \[(?<part>\w+)\] (?<text>.*)$/gm)) {
  const ms = /(\d+)ms/.exec(g.text)[1];
  console.log(`${g.level.toLowerCase().padEnd(6)}${g.part.padEnd(4)}${ms.padStart(5)} ${g.date.replace(/(\d+)-(\d+)-(\d+)/, '$3.$2.$1')}`);
}

console.log('1234567.891'.replace(/\d(?=(\d{3})+(?!\d)\.?)/g, '$&,').replace(/\.(.*)/, (_, f) => '.' + f.replaceAll(',', '')));
console.log('font-size: 12px; line-height: 3px'.match(/(?<=line-height:\s*)\d+/)[0]);
console.log('someCamelCaseName'.replace(/[A-Z]/g, (c) => '_' + c.toLowerCase()), 'some-kebab-name'.replace(/-(.)/g, (_, c) => c.toUpperCase()));
console.log('naïve café 東京 123 🦀'.match(/\p{L}+/gu), '👍🏽 ok 🦀'.match(/\p{Emoji_Presentation}/gu).length);
console.log('aBc'.match(/(?<first>.)(?<rest>.+)/).groups.rest, /^(?:(\w)\w*\1)$/.test('abracadabra'));
console.log('a1b22c333'.split(/(\d+)/), 'one  two'.split(/\s/), '2024-05-06'.split('-', 2));

const sticky = /[a-z]+|\d+|\s+/y;
const words = [];
for (let match; (match = sticky.exec('abc 123 de!f')); ) words.push(`${match[0]}@${match.index}`);
console.log(words, sticky.lastIndex);
const indices = /b(?<x>c+)/d.exec('aabccc').indices;
console.log(indices[0], indices.groups.x);
console.log('tel: 0172-5551234'.replace(/(?<area>\d{4})-(?<rest>\d+)/, '+49 $<area> $<rest>'), 'x'.replace('x', '$$&'));
for (const source of ['(', '[z-a]', '(?<n>a)(?<n>b)']) {
  try {
    new RegExp(source, 'u');
  } catch (error) {
    console.log(source, error.name);
  }
}
