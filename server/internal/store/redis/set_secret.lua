-- Replaces the digest of an account's secret.
--
-- KEYS[1]  player:{id}
-- ARGV[1]  digest of the new secret
-- Reply    1, or 0 if there is no such account
--
-- Invariant: setting a secret never creates an account.
if redis.call('EXISTS', KEYS[1]) == 0 then
  return 0
end
redis.call('HSET', KEYS[1], 'secret', ARGV[1])
return 1
