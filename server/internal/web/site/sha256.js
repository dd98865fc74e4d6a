// SHA-256 and HMAC-SHA256. Browsers offer crypto.subtle only over TLS and on localhost.

const primes = [2];
for (let n = 3; primes.length < 64; n += 2) {
  if (primes.every((prime) => n % prime)) primes.push(n);
}
/** @param {number} x */
const fraction = (x) => ((x % 1) * 2 ** 32) | 0;
const start = Int32Array.from(primes.slice(0, 8), (prime) => fraction(Math.sqrt(prime)));
const constants = Int32Array.from(primes, (prime) => fraction(Math.cbrt(prime)));
const words = new Int32Array(64);

/**
 * Returns the state after one more block of 64 bytes.
 * @param {Int32Array} state @param {DataView} data @param {number} at
 */
function compress(state, data, at) {
  for (let i = 0; i < 16; i++) words[i] = data.getInt32(at + 4 * i);
  for (let i = 16; i < 64; i++) {
    const x = words[i - 15];
    const y = words[i - 2];
    const s0 = ((x >>> 7) | (x << 25)) ^ ((x >>> 18) | (x << 14)) ^ (x >>> 3);
    const s1 = ((y >>> 17) | (y << 15)) ^ ((y >>> 19) | (y << 13)) ^ (y >>> 10);
    words[i] = words[i - 16] + s0 + words[i - 7] + s1;
  }
  let [a, b, c, d, e, f, g, h] = state;
  for (let i = 0; i < 64; i++) {
    const s1 = ((e >>> 6) | (e << 26)) ^ ((e >>> 11) | (e << 21)) ^ ((e >>> 25) | (e << 7));
    const t1 = (h + s1 + ((e & f) ^ (~e & g)) + constants[i] + words[i]) | 0;
    const s0 = ((a >>> 2) | (a << 30)) ^ ((a >>> 13) | (a << 19)) ^ ((a >>> 22) | (a << 10));
    const t2 = s0 + ((a & b) ^ (a & c) ^ (b & c));
    [h, g, f, e, d, c, b, a] = [g, f, e, (d + t1) | 0, c, b, a, (t1 + t2) | 0];
  }
  return Int32Array.of(a, b, c, d, e, f, g, h).map((word, i) => word + state[i]);
}

/**
 * Hashes the rest of a message of which state has a number of bytes already.
 * @param {Int32Array} state @param {number} before @param {Uint8Array} rest
 */
function finish(state, before, rest) {
  const padded = new Uint8Array(((rest.length + 72) >> 6) << 6);
  padded.set(rest);
  padded[rest.length] = 0x80;
  const data = new DataView(padded.buffer);
  data.setBigUint64(padded.length - 8, BigInt(before + rest.length) * 8n);
  for (let at = 0; at < padded.length; at += 64) state = compress(state, data, at);
  const hash = new DataView(new ArrayBuffer(32));
  state.forEach((word, i) => {
    hash.setInt32(4 * i, word);
  });
  return new Uint8Array(hash.buffer);
}

/** @param {Uint8Array} message */
export const sha256 = (message) => finish(start, 0, message);

/**
 * Returns the function HMAC-SHA256 of a key.
 * @param {Uint8Array} key @returns {(message: Uint8Array) => Uint8Array<ArrayBuffer>}
 */
export function hmac(key) {
  const block = new Uint8Array(64);
  block.set(key.length > 64 ? sha256(key) : key);
  const [inner, outer] = [0x36, 0x5c].map((pad) =>
    compress(start, new DataView(block.map((byte) => byte ^ pad).buffer), 0),
  );
  return (message) => finish(outer, 64, finish(inner, 64, message));
}
