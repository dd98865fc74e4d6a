-- Finds a player's place on a board.
--
-- KEYS[1]  scores:{variant:window}
-- KEYS[2]  scores:{variant:window}:best
-- ARGV[1]  ID of the player
-- Reply    the place, from 0, or nil if the player is not on the board
--
-- Invariant: nothing is written.
local member = redis.call('HGET', KEYS[2], ARGV[1])
return member and redis.call('ZREVRANK', KEYS[1], member)
