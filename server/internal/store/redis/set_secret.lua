-- Replaces the digest of an account's secret, if it is the expected one.
--
-- KEYS[1]  player:{id}
-- ARGV[1]  the expected digest
-- ARGV[2]  digest of the new secret
-- Reply    1, or 0 if the digest is neither, or there is no such account
--
-- Invariant: of two calls that expect the same digest, one succeeds. No call creates an account.
local stored = redis.call('HGET', KEYS[1], 'secret')
if stored ~= ARGV[1] and stored ~= ARGV[2] then
  return 0
end
redis.call('HSET', KEYS[1], 'secret', ARGV[2])
return 1
