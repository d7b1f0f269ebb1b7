// `héllo 你好 🦀`: code units, code points, graphemes, normal forms, bytes.
const text = 'héllo 你好 🦀';
console.log(text, text.length, [...text].length, Buffer.byteLength(text));
for (const c of text) console.log(JSON.stringify(c), 'U+' + c.codePointAt(0).toString(16).toUpperCase().padStart(4, '0'), Buffer.from(c).toString('hex'));
console.log('reversed:', [...text].reverse().join(''), '| by units it breaks:', text.split('').reverse().join('').isWellFormed?.() ?? false);
console.log('NFD', text.normalize('NFD').length, 'plain:', text.normalize('NFD').replace(/\p{M}/gu, ''));
console.log('upper', text.toUpperCase(), 'ß'.toUpperCase(), 'İ'.toLowerCase().length, 'ﬁ'.normalize('NFKC'));

const segmenter = new Intl.Segmenter('en', { granularity: 'grapheme' });
const graphemes = (s) => [...segmenter.segment(s)].map((g) => g.segment);
for (const s of ['e\u0301', '👩‍👩‍👧', '🇩🇪🇫🇷', '각']) console.log(s, s.length, [...s].length, graphemes(s).length);

const encoder = new TextEncoder();
console.log([...encoder.encode('é🦀')], new TextDecoder().decode(new Uint8Array([0x68, 0xff, 0xc3, 0xa9, 0xe4])));
console.log(new TextDecoder('utf-16le').decode(Buffer.from(text, 'utf16le')) === text, Buffer.from(text, 'latin1').toString('hex'));
console.log(String.fromCodePoint(0x1f980, 0x4f60), '\u{1F980}' === '\ud83e\udd80', '🦀'.charCodeAt(0), '🦀'.at(0) === '🦀');
console.log(['z', 'ä', 'a', 'Z', 'ö'].sort(), ['z', 'ä', 'a', 'Z', 'ö'].sort(new Intl.Collator('de').compare));
console.log('résumé'.localeCompare('resume', 'en', { sensitivity: 'base' }), encodeURIComponent(text), escape('ä🦀'));
const 变量 = 1, ñandú = 2;
console.log(变量 + ñandú, { [text]: true });
