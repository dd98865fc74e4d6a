import { hmac } from './sha256.js';

/**
 * Returns the random numbers of a game: for each of its versions a function draw, and
 * draw(n) is the next number from 0 to n - 1 in the stream of that version.
 * @param {Uint8Array} seed @returns {(version: number) => (n: number | bigint) => bigint}
 */
export function draws(seed) {
  const mac = hmac(seed);
  return (version) => {
    const message = new DataView(new ArrayBuffer(12));
    message.setBigUint64(0, BigInt(version));
    let count = 0;
    let block = new DataView(message.buffer);
    const next = () => {
      if (count % 4 === 0) {
        message.setUint32(8, count / 4);
        block = new DataView(mac(new Uint8Array(message.buffer)).buffer);
      }
      return block.getBigUint64((count++ % 4) * 8);
    };
    return (n) => {
      const limit = 2n ** 64n - (2n ** 64n % BigInt(n));
      let x = next();
      while (x >= limit) x = next();
      return x % BigInt(n);
    };
  };
}
