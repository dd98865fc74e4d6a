-- Adds a game to a player's open games, unless the limit has been reached.
--
-- KEYS[1]  player:{id}:open                   sorted set: Unix ms -> game ID
-- ARGV[1]  ID of the game
-- ARGV[2]  the maximum number of open games; 0 for no limit
-- ARGV[3]  the time in milliseconds after which the set expires unless another game
--          is reserved, 0 for never
-- Reply    1 if the game is now counted, even if it already was; 0 if the limit has
--          been reached
--
-- Invariant: a game counts once, from its first reservation, no matter how often it
-- is reserved, and no new game is counted at or above the limit.
if redis.call('ZSCORE', KEYS[1], ARGV[1]) then
  return 1
end
local limit = tonumber(ARGV[2])
if limit > 0 and redis.call('ZCARD', KEYS[1]) >= limit then
  return 0
end
local now = redis.call('TIME')
redis.call('ZADD', KEYS[1], now[1] * 1000 + math.floor(now[2] / 1000), ARGV[1])
if ARGV[3] ~= '0' then redis.call('PEXPIRE', KEYS[1], ARGV[3]) end
return 1
