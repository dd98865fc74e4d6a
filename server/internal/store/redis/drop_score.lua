-- Removes a player's entry from a board.
--
-- KEYS[1]  scores:{variant:window}        sorted set: score -> member
-- KEYS[2]  scores:{variant:window}:best   hash: player -> that player's member
-- ARGV[1]  ID of the player
-- ARGV[2]  the member to remove; '' for the player's best
-- ARGV[3]  '0' to keep the member if it is the player's best
-- Reply    1 if the board changed, else 0
--
-- Invariant: the hash never names a removed member.
local best = redis.call('HGET', KEYS[2], ARGV[1])
local member = ARGV[2]
if member == '' then
  member = best
end
if not member then
  return 0
end
if member == best then
  if ARGV[3] == '0' then
    return 0
  end
  redis.call('HDEL', KEYS[2], ARGV[1])
end
return redis.call('ZREM', KEYS[1], member)
