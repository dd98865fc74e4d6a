-- Counts a game among a player's open ones, if there is room.
--
-- KEYS[1]  player:{id}:open                   sorted set: Unix ms -> game id
-- ARGV[1]  id of the game
-- ARGV[2]  how many the player may have open; 0 for any number
-- ARGV[3]  after how many milliseconds without another one all of this is
--          forgotten, 0 for never
-- Reply    1 if the game is counted now (also if it was before), 0 if it is
--          one too many
--
-- Invariant: a game counts once however often it is reserved, since it was
-- reserved first, and no new one is counted at or above the limit.
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
