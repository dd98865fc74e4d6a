import assert from 'node:assert/strict';
import { createHash, createHmac, randomBytes } from 'node:crypto';
import { test } from 'node:test';
import { hmac, sha256 } from '../site/sha256.js';

test('SHA-256 and HMAC match those of Node for every length', () => {
  for (let length = 0; length < 200; length++) {
    const message = randomBytes(length);
    const key = randomBytes(length % 65);
    const hash = createHash('sha256').update(message).digest();
    assert.deepEqual(Buffer.from(sha256(message)), hash);
    assert.deepEqual(
      Buffer.from(hmac(key)(message)),
      createHmac('sha256', key).update(message).digest(),
    );
  }
});
