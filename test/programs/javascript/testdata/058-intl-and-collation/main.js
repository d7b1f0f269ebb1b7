// Sorting and formatting by locale, plural rules, relative numbers, word boundaries.
const names = ['Zebra', 'Äpfel', 'apfel', 'Österreich', 'Ofen', 'zulu', 'éclair', 'Eclair', 'item10', 'item9'];
console.log([...names].sort());
console.log([...names].sort(new Intl.Collator('de', { numeric: true }).compare));
console.log([...names].sort(new Intl.Collator('sv').compare).slice(-2));

for (const locale of ['en-US', 'de-DE', 'en-IN']) console.log(locale, new Intl.NumberFormat(locale, { maximumFractionDigits: 2 }).format(12345678.905));
console.log(new Intl.NumberFormat('en-US', { style: 'currency', currency: 'USD' }).format(-1234.5), new Intl.NumberFormat('en', { notation: 'compact' }).format(1250000));
console.log(new Intl.NumberFormat('en', { style: 'percent', minimumFractionDigits: 1 }).format(0.1234), new Intl.NumberFormat('en', { style: 'unit', unit: 'kilometer-per-hour' }).format(88));

const plural = (locale, type) => {
  const rules = new Intl.PluralRules(locale, { type });
  return [0, 1, 2, 3, 4, 5, 11, 21, 22, 101].map((n) => `${n}:${rules.select(n)}`).join(' ');
};
console.log('en ordinal', plural('en', 'ordinal'));
console.log('pl cardinal', plural('pl', 'cardinal'));
console.log('ja cardinal', plural('ja', 'cardinal'));

const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto' });
console.log(relative.format(-1, 'day'), '|', relative.format(3, 'week'), '|', relative.format(0, 'year'));
console.log(new Intl.ListFormat('en', { type: 'conjunction' }).format(['tea', 'cups', 'a pot']), '|', new Intl.ListFormat('de', { type: 'disjunction' }).format(['A', 'B']));
console.log([...new Intl.Segmenter('en', { granularity: 'word' }).segment('Hello, 🦀 world! It’s 3.5.')].filter((s) => s.isWordLike).map((s) => s.segment));
console.log([...new Intl.Segmenter('en', { granularity: 'sentence' }).segment('One. Two? Three!')].map((s) => s.segment.trim()));
console.log('I'.toLocaleLowerCase('tr'), 'i'.toLocaleUpperCase('tr'), 'ä'.localeCompare('z', 'de') < 0, 'ä'.localeCompare('z', 'sv') > 0);
console.log(new Intl.DisplayNames('de', { type: 'region' }).of('CN'), new Intl.DisplayNames('en', { type: 'language' }).of('sw'), Intl.getCanonicalLocales('EN-us'));
