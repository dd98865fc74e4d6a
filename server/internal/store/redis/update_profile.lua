-- Replaces a player's profile, if it still has the given revision.
--
-- KEYS[1]  player:{id}
-- ARGV[1]  the revision, 0 for a player without a profile
-- ARGV[2]  the encoded profile
-- Reply    1 if it was replaced or there is no such account, else 0
--
-- Invariant: each change builds on the previous revision, so no change is lost.
if redis.call('HEXISTS', KEYS[1], 'name') == 0 then
  return 1
end
if (redis.call('HGET', KEYS[1], 'profile-revision') or '0') ~= ARGV[1] then
  return 0
end
redis.call('HINCRBY', KEYS[1], 'profile-revision', 1)
redis.call('HSET', KEYS[1], 'profile', ARGV[2])
return 1
