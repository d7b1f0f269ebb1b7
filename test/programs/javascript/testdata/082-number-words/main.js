// Numbers in words (English, French, Chinese), ordinals, a clock in words.
const ONES = 'zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen'.split(' ');
const TENS = ['', '', ...'twenty thirty forty fifty sixty seventy eighty ninety'.split(' ')];
function english(n) {
  if (n < 0n) return `minus ${english(-n)}`;
  if (n < 20n) return ONES[n];
  if (n < 100n) return TENS[n / 10n] + (n % 10n ? `-${ONES[n % 10n]}` : '');
  for (const [size, name] of [[10n ** 12n, 'trillion'], [10n ** 9n, 'billion'], [10n ** 6n, 'million'], [1000n, 'thousand'], [100n, 'hundred']]) {
    if (n >= size) return `${english(n / size)} ${name}` + (n % size ? (n % size < 100n ? ' and ' : ' ') + english(n % size) : '');
  }
}

const UN = 'zéro un deux trois quatre cinq six sept huit neuf dix onze douze treize quatorze quinze seize dix-sept dix-huit dix-neuf'.split(' ');
const DIX = ['', '', 'vingt', 'trente', 'quarante', 'cinquante', 'soixante', 'soixante', 'quatre-vingt', 'quatre-vingt'];
function french(n) {
  if (n < 20) return UN[n];
  if (n < 100) {
    const base = Math.floor(n / 10), rest = [7, 9].includes(base) ? (n % 10) + 10 : n % 10;
    if (rest === 0) return DIX[base] + (base === 8 ? 's' : '');
    return DIX[base] + ((rest === 1 || rest === 11) && base < 8 ? ' et ' : '-') + UN[rest];
  }
  const [size, name] = n < 1000 ? [100, 'cent'] : [1000, 'mille'];
  const head = Math.floor(n / size), rest = n % size;
  return (head > 1 ? french(head) + ' ' : '') + name + (rest ? ' ' + french(rest) : size === 100 && head > 1 ? 's' : '');
}

function chinese(n) {
  const digits = '零一二三四五六七八九', units = ['', '十', '百', '千'];
  const four = (n) => String(n).split('').map(Number).reduce((out, d, i, all) => out + (d ? digits[d] + units[all.length - 1 - i] : out.endsWith('零') ? '' : '零'), '').replace(/零$/, '');
  if (n === 0) return '零';
  const [high, low] = [Math.floor(n / 10000), n % 10000];
  const text = (high ? chinese(high) + '万' : '') + (low ? (high && low < 1000 ? '零' : '') + four(low) : '');
  return text.replace(/^一十/, '十');
}

for (const n of [0, 13, 21, 71, 80, 99, 100, 101, 200, 342, 1000, 1981, 2024, 10101, 65536]) console.log(String(n).padStart(6), '|', english(BigInt(n)), '|', french(n), '|', chinese(n));
console.log(english(-(10n ** 12n) - 7n), '|', english(1234567890123n));

function clock(h, m) {
  const hour = (x) => ONES[(x + 11) % 12 + 1];
  if (m === 0) return `${hour(h)} o'clock`;
  const phrase = (k) => (k === 15 ? 'quarter' : k === 30 ? 'half' : `${english(BigInt(k))} minute${k > 1 ? 's' : ''}`);
  return m <= 30 ? `${phrase(m)} past ${hour(h)}` : `${phrase(60 - m)} to ${hour(h + 1)}`;
}
for (const [h, m] of [[0, 0], [12, 1], [3, 15], [7, 30], [23, 45], [11, 59]]) console.log(`${h}:${String(m).padStart(2, '0')}`, clock(h, m));
