// Encryption with fixed keys: AES in three modes, tampering found, a fixed-seed key pair.
const crypto = require('node:crypto');

const key = Buffer.from('000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f', 'hex');
const iv = Buffer.alloc(16, 7);
const plain = 'héllo 你好 🦀 – secret';

for (const mode of ['aes-256-cbc', 'aes-256-ctr', 'aes-256-ecb']) {
  const vector = mode.endsWith('ecb') ? null : iv;
  const cipher = crypto.createCipheriv(mode, key, vector);
  const sealed = cipher.update(plain, 'utf8', 'hex') + cipher.final('hex');
  const decipher = crypto.createDecipheriv(mode, key, vector);
  console.log(mode, sealed, (decipher.update(sealed, 'hex', 'utf8') + decipher.final('utf8')) === plain);
}

const nonce = Buffer.alloc(12, 3);
const gcm = crypto.createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from('header'));
const sealed = Buffer.concat([gcm.update(plain), gcm.final()]);
const tag = gcm.getAuthTag();
console.log('gcm', sealed.toString('base64'), tag.toString('hex'));
const open = (data, aad) => {
  const decipher = crypto.createDecipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(aad)).setAuthTag(tag);
  return decipher.update(data, null, 'utf8') + decipher.final('utf8');
};
console.log(open(sealed, 'header'));
for (const [data, aad] of [[Buffer.from(sealed).fill(0, 3, 4), 'header'], [sealed, 'other']]) {
  try {
    open(data, aad);
  } catch {
    console.log('tampering was noticed');
  }
}

const seed = crypto.createHash('sha256').update('fixed seed').digest();
const privateKey = crypto.createPrivateKey({ key: Buffer.concat([Buffer.from('302e020100300506032b657004220420', 'hex'), seed]), format: 'der', type: 'pkcs8' });
const publicKey = crypto.createPublicKey(privateKey);
const signature = crypto.sign(null, Buffer.from(plain), privateKey);
console.log('ed25519', signature.toString('hex').slice(0, 48));
console.log(crypto.verify(null, Buffer.from(plain), publicKey, signature), crypto.verify(null, Buffer.from('other'), publicKey, signature));
