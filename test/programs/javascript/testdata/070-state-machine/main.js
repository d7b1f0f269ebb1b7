// A parser for telephone keypads, a vending machine and a regex-free validator as state machines.
function machine({ start, states }) {
  let state = start;
  const log = [state];
  return {
    send(event, ...payload) {
      const transition = states[state]?.on?.[event] ?? states['*']?.on?.[event];
      if (!transition) throw new Error(`${event} is not possible while ${state}`);
      const target = typeof transition === 'function' ? transition(...payload) : transition;
      if (target && target !== state) {
        states[state]?.exit?.();
        state = target;
        states[state]?.enter?.();
        log.push(state);
      }
      return this;
    },
    get state() { return state; },
    log,
  };
}

const stock = { tea: 2, kaffee: 0 };
let credit = 0;
const vending = machine({
  start: 'idle',
  states: {
    idle: { on: { coin: (value) => ((credit += value), credit >= 100 ? 'ready' : 'idle') } },
    ready: {
      enter: () => console.log('  credit', credit),
      on: {
        coin: (value) => void (credit += value),
        choose: (drink) => (stock[drink] ? (stock[drink]--, (credit -= 100), 'pouring') : console.log('  sold out:', drink)),
      },
    },
    pouring: { enter: () => console.log('  pouring ☕'), on: { done: () => (credit >= 100 ? 'ready' : 'idle') } },
    '*': { on: { refund: () => (console.log('  refund', credit), (credit = 0), 'idle') } },
  },
});
for (const [event, ...payload] of [['coin', 50], ['choose', 'tea'], ['coin', 100], ['choose', 'kaffee'], ['coin', 60], ['choose', 'tea'], ['done'], ['choose', 'tea'], ['refund'], ['done']]) {
  try {
    vending.send(event, ...payload);
    console.log(event, payload.join(), '→', vending.state, credit);
  } catch (error) {
    console.log('✗', error.message);
  }
}
console.log(vending.log.join(' → '));

const DIGITS = { start: { sign: 'signed', digit: 'whole', dot: 'leading' }, signed: { digit: 'whole', dot: 'leading' }, whole: { digit: 'whole', dot: 'fraction', e: 'e' }, leading: { digit: 'fraction' }, fraction: { digit: 'fraction', e: 'e' }, e: { sign: 'esign', digit: 'exponent' }, esign: { digit: 'exponent' }, exponent: { digit: 'exponent' } };
const kind = (c) => ('+-'.includes(c) ? 'sign' : c >= '0' && c <= '9' ? 'digit' : c === '.' ? 'dot' : c.toLowerCase() === 'e' ? 'e' : '?');
const isNumber = (text) => ['whole', 'fraction', 'exponent'].includes([...text].reduce((s, c) => DIGITS[s]?.[kind(c)], 'start'));
const samples = ['2', '-0.1', '+6e-1', '.5', '5.', 'e3', '1e', '--6', '1.2.3', '', '６', '4e+7'];
console.log(samples.map((s) => `${s || '∅'}:${isNumber(s) ? 'yes' : 'no'}`).join(' '));

const KEYS = ['', '.', 'abc', 'def', 'ghi', 'jkl', 'mno', 'pqrs', 'tuv', 'wxyz'];
const decode = (presses) => (presses.match(/(\d)\1*/g) ?? []).map((run) => (run[0] === '0' ? ' ' : KEYS[run[0]][(run.length - 1) % KEYS[run[0]].length])).join('');
console.log(presses('hello world'), '→', decode(presses('hello world')));
function presses(text) {
  return [...text].map((c) => { const k = c === ' ' ? -1 : KEYS.findIndex((s) => s.includes(c)); return k < 0 ? '0' : String(k).repeat(KEYS[k].indexOf(c) + 1); }).join('|');
}
