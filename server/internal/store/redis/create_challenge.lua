-- Stores a challenge, unless one with the same ID exists.
--
-- KEYS[1]  challenge:{id}
-- ARGV[1]  kind
-- ARGV[2]  1 if it is listed, else 0
-- ARGV[3]  time of creation in Unix milliseconds
-- ARGV[4]  time of expiry in Unix milliseconds
-- ARGV[5]  the encoded challenge
-- Reply    the challenge that is stored now: {revision, kind, listed, created,
--          expires, encoded}
--
-- Invariant: an existing challenge is not changed.
if redis.call('EXISTS', KEYS[1]) == 0 then
  redis.call('HSET', KEYS[1], 'revision', '1', 'kind', ARGV[1], 'listed', ARGV[2],
    'created', ARGV[3], 'expires', ARGV[4], 'encoded', ARGV[5])
  redis.call('PEXPIREAT', KEYS[1], ARGV[4])
end
return redis.call('HMGET', KEYS[1], 'revision', 'kind', 'listed', 'created', 'expires', 'encoded')
