// Name-based UUIDs (versions 3 and 5), parsing, ordering, a snowflake-like id.
const { createHash } = require('node:crypto');

const DNS = '6ba7b810-9dad-11d1-80b4-00c04fd430c8';
const toBytes = (uuid) => Buffer.from(uuid.replaceAll('-', ''), 'hex');
const format = (bytes) => bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');

function named(version, namespace, name) {
  const algorithm = version === 3 ? 'md5' : 'sha1';
  const bytes = createHash(algorithm).update(toBytes(namespace)).update(name).digest().subarray(0, 16);
  bytes[6] = (bytes[6] & 0x0f) | (version << 4);
  bytes[8] = (bytes[8] & 0x3f) | 0x80;
  return format(bytes);
}

const describe = (uuid) => {
  const bytes = toBytes(uuid);
  if (bytes.length !== 16) throw new TypeError(`not a UUID: ${uuid}`);
  return { version: bytes[6] >> 4, variant: bytes[8] >> 6 === 2 ? 'RFC 4122' : 'other' };
};

for (const name of ['python.org', 'bücher.example', 'héllo 你好 🦀']) {
  const [v3, v5] = [named(3, DNS, name), named(5, DNS, name)];
  console.log(v3, v5, name, describe(v5));
}
console.log('known answer:', named(5, DNS, 'python.org') === '886313e1-3b8a-5372-9b90-0c9aee199e5d');
const many = Array.from({ length: 1000 }, (_, i) => named(5, DNS, `item ${i}`));
console.log('different:', new Set(many).size, 'smallest:', many.sort()[0]);
try {
  describe('1234');
} catch (error) {
  console.log(error.message);
}

class Snowflake {
  #last = 0n;
  #sequence = 0n;
  constructor(node, clock) { Object.assign(this, { node: BigInt(node), clock }); }
  next() {
    const now = this.clock();
    this.#sequence = now === this.#last ? (this.#sequence + 1n) & 0xfffn : 0n;
    this.#last = now;
    return (now << 22n) | (this.node << 12n) | this.#sequence;
  }
}
let time = 1000n;
const ids = new Snowflake(5, () => time);
console.log(ids.next(), ids.next(), (time += 1n) && ids.next());
