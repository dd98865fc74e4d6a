-- Replaces the mutable part of a challenge, if the challenge still has the given
-- revision.
--
-- KEYS[1]  challenge:{id}
-- ARGV[1]  the revision
-- ARGV[2]  the encoded challenge
-- ARGV[3]  the time in Unix milliseconds at which it expires
-- Reply    1 if it was replaced, else 0
--
-- Invariant: each change builds on the previous revision, so no change is lost.
if redis.call('HGET', KEYS[1], 'revision') ~= ARGV[1] then
  return 0
end
redis.call('HINCRBY', KEYS[1], 'revision', 1)
redis.call('HSET', KEYS[1], 'encoded', ARGV[2], 'expires', ARGV[3])
redis.call('PEXPIREAT', KEYS[1], ARGV[3])
return 1
