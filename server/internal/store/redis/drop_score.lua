-- Removes a player from a board.
--
-- KEYS[1]  scores:{variant:window}        sorted set: score -> member
-- KEYS[2]  scores:{variant:window}:best   hash: player -> that player's member
-- ARGV[1]  ID of the player
-- Reply    1 if the board changed, else 0
--
-- Invariant: the hash never names a removed member.
local member = redis.call('HGET', KEYS[2], ARGV[1])
if not member then
  return 0
end
redis.call('HDEL', KEYS[2], ARGV[1])
return redis.call('ZREM', KEYS[1], member)
