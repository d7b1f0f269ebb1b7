// Reactive values: signals, computed ones, effects, batches; and a typed event emitter.
const { EventEmitter } = require('node:events');

let active = null, depth = 0;
const pending = new Set();

function signal(value) {
  const readers = new Set();
  return {
    get value() {
      if (active) readers.add(active);
      return value;
    },
    set value(next) {
      if (Object.is(next, value)) return;
      value = next;
      for (const reader of [...readers]) pending.add(reader);
      if (depth === 0) flush();
    },
  };
}

function flush() {
  for (const effect of pending) {
    pending.delete(effect);
    effect();
  }
}

function effect(action) {
  const run = () => {
    const outer = active;
    active = run;
    try {
      action();
    } finally {
      active = outer;
    }
  };
  run();
}

function computed(action) {
  const inner = signal();
  effect(() => (inner.value = action()));
  return { get value() { return inner.value; } };
}

function batch(action) {
  depth++;
  try {
    action();
  } finally {
    if (--depth === 0) flush();
  }
}

const price = signal(10), pieces = signal(2), name = signal('茶');
const total = computed(() => price.value * pieces.value);
let runs = 0;
effect(() => console.log(`${name.value}: ${total.value}`, `run ${++runs}`));
price.value = 12;
price.value = 12;
batch(() => {
  price.value = 20;
  pieces.value = 5;
});
name.value = 'Kräutertee 🌿';

const emitter = new EventEmitter();
emitter.once('open', (n) => console.log('once', n));
emitter.on('open', function (n) { console.log('always', n, this === emitter); });
emitter.prependListener('open', () => console.log('first'));
console.log(emitter.emit('open', 1), emitter.emit('open', 2), emitter.emit('nobody'), emitter.listenerCount('open'));
try {
  emitter.emit('error', new Error('no listener'));
} catch (error) {
  console.log('thrown:', error.message);
}
