// SHA-256 and HMAC-SHA256. Browsers provide crypto.subtle only over TLS and on localhost.

const primes = [2];
for (let n = 3; primes.length < 64; n += 2) {
  if (primes.every((prime) => n % prime)) primes.push(n);
}
/** @param {number} x */
const fraction = (x) => ((x % 1) * 2 ** 32) | 0;
const start = primes.slice(0, 8).map((prime) => fraction(Math.sqrt(prime)));
const constants = primes.map((prime) => fraction(Math.cbrt(prime)));
const words = new Int32Array(64);

/** @param {number} x @param {number} n */
const rotate = (x, n) => (x >>> n) | (x << (32 - n));

/**
 * Returns the state after another block of 64 bytes.
 * @param {number[]} state @param {Uint8Array} bytes @param {number} at
 */
function compress(state, bytes, at) {
  const data = new DataView(bytes.buffer, at);
  for (let i = 0; i < 16; i++) words[i] = data.getInt32(4 * i);
  for (let i = 16; i < 64; i++) {
    const [x, y] = [words[i - 15], words[i - 2]];
    const s0 = rotate(x, 7) ^ rotate(x, 18) ^ (x >>> 3);
    const s1 = rotate(y, 17) ^ rotate(y, 19) ^ (y >>> 10);
    words[i] = words[i - 16] + s0 + words[i - 7] + s1;
  }
  let [a, b, c, d, e, f, g, h] = state;
  for (let i = 0; i < 64; i++) {
    const s1 = rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25);
    const t1 = (h + s1 + ((e & f) ^ (~e & g)) + constants[i] + words[i]) | 0;
    const s0 = rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22);
    const t2 = s0 + ((a & b) ^ (a & c) ^ (b & c));
    [h, g, f, e, d, c, b, a] = [g, f, e, (d + t1) | 0, c, b, a, (t1 + t2) | 0];
  }
  return [a, b, c, d, e, f, g, h].map((word, i) => (word + state[i]) | 0);
}

/**
 * Hashes the rest of a message. state is the state after the first before bytes.
 * @param {number[]} state @param {number} before @param {Uint8Array} rest
 */
function finish(state, before, rest) {
  const padded = new Uint8Array(((rest.length + 72) >> 6) << 6);
  padded.set(rest);
  padded[rest.length] = 0x80;
  new DataView(padded.buffer).setUint32(padded.length - 4, (before + rest.length) * 8);
  for (let at = 0; at < padded.length; at += 64) state = compress(state, padded, at);
  return Uint8Array.from({ length: 32 }, (_, i) => state[i >> 2] >> (24 - 8 * (i & 3)));
}

/** @param {Uint8Array} message */
export const sha256 = (message) => finish(start, 0, message);

/** Returns HMAC-SHA256 with a key of at most 64 bytes. @param {Uint8Array} key */
export function hmac(key) {
  const [inner, outer] = [0x36, 0x5c].map((pad) =>
    compress(
      start,
      Uint8Array.from({ length: 64 }, (_, i) => pad ^ key[i]),
      0,
    ),
  );
  return (/** @type {Uint8Array} */ message) => finish(outer, 64, finish(inner, 64, message));
}
