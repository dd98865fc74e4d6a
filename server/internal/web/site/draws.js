import { hmac } from './sha256.js';

/**
 * Returns a function that maps each version of a game to a function draw. draw(n) returns the
 * next random number from 0 to n - 1 in the stream of that version.
 * @param {Uint8Array} seed
 */
export function draws(seed) {
  const mac = hmac(seed);
  return (/** @type {number} */ version) => {
    const message = new DataView(new ArrayBuffer(12));
    message.setBigUint64(0, BigInt(version));
    let block = message;
    let used = 0;
    const next = () => {
      if (used % 32 === 0) {
        message.setUint32(8, used / 32);
        block = new DataView(mac(new Uint8Array(message.buffer)).buffer);
      }
      used += 8;
      return block.getBigUint64((used - 8) % 32);
    };
    return (/** @type {number | bigint} */ n) => {
      const limit = 2n ** 64n - (2n ** 64n % BigInt(n));
      let x = next();
      while (x >= limit) x = next();
      return x % BigInt(n);
    };
  };
}
