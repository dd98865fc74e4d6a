-- Ends a claim, unless something new became due with the game meanwhile.
--
-- KEYS[1]  due
-- ARGV[1]  game id
-- ARGV[2]  the claim: the moment to which the game was put off
-- ARGV[3]  when somebody must look at it next in Unix milliseconds, '' for never
--
-- Reply: 1 when it was set or removed, 0 when the claim does not stand any more.

local at = redis.call('ZSCORE', KEYS[1], ARGV[1])
if not at or tonumber(at) ~= tonumber(ARGV[2]) then return 0 end
if ARGV[3] == '' then
  return redis.call('ZREM', KEYS[1], ARGV[1])
end
redis.call('ZADD', KEYS[1], ARGV[3], ARGV[1])
return 1
