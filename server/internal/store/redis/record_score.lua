-- Records a player's score on a board if it is the player's best there.
--
-- KEYS[1]  scores:{variant:window}        sorted set: score -> member
-- KEYS[2]  scores:{variant:window}:best   hash: player -> that player's member
-- ARGV[1]  ID of the player
-- ARGV[2]  score
-- ARGV[3]  member: <9999999999999 - Unix ms>:<player id>:<game id>
-- ARGV[4]  Unix seconds at which the board expires; 0 for never
-- Reply    1 if the board changed, else 0
--
-- Invariant: a player has one member on a board, the greatest (score, member) of
-- all recorded ones, no matter in which order and how often they were recorded. The
-- hash names exactly the members of the set. An expired board is not created again.
local expires = tonumber(ARGV[4])
if expires > 0 and tonumber(redis.call('TIME')[1]) >= expires then
  return 0
end
local old = redis.call('HGET', KEYS[2], ARGV[1])
if old then
  local best, score = tonumber(redis.call('ZSCORE', KEYS[1], old)), tonumber(ARGV[2])
  -- Members of the same player are ordered by their leading digits, then by game
  -- ID.
  if best and (best > score or (best == score and old >= ARGV[3])) then
    return 0
  end
  redis.call('ZREM', KEYS[1], old)
end
redis.call('ZADD', KEYS[1], ARGV[2], ARGV[3])
redis.call('HSET', KEYS[2], ARGV[1], ARGV[3])
if expires > 0 then
  redis.call('EXPIREAT', KEYS[1], ARGV[4])
  redis.call('EXPIREAT', KEYS[2], ARGV[4])
end
return 1
