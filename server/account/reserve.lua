-- Counts a game among a player's open ones, if there is room.
--
-- KEYS[1]  player:{id}:open
-- ARGV[1]  id of the game
-- ARGV[2]  how many the player may have open; 0 for any number
-- Reply    1 if the game is counted now (also if it was before), 0 if it is
--          one too many
--
-- Invariant: a game counts once however often it is reserved, and no new one
-- is counted at or above the limit.
if redis.call('SISMEMBER', KEYS[1], ARGV[1]) == 1 then
  return 1
end
local limit = tonumber(ARGV[2])
if limit > 0 and redis.call('SCARD', KEYS[1]) >= limit then
  return 0
end
redis.call('SADD', KEYS[1], ARGV[1])
return 1
