-- Finds a player's place on a board, and the entries around it.
--
-- KEYS[1]  scores:{variant:window}
-- KEYS[2]  scores:{variant:window}:best
-- ARGV[1]  ID of the player
-- ARGV[2]  the number of entries to return above, and as many below
-- Reply    {} if the player is not on the board, else {the player's place (from 0),
--          the place of the first returned entry, the entries as {member, score,
--          member, score, ...}, the number of entries on the board}
--
-- Invariant: nothing is written, and the reply describes a single moment.
local member = redis.call('HGET', KEYS[2], ARGV[1])
local place = member and redis.call('ZREVRANK', KEYS[1], member)
if not place then
  return {}
end
if ARGV[2] == '0' then
  -- Only the player's own entry is requested, and its place is already known.
  return {place, place, {member, redis.call('ZSCORE', KEYS[1], member)}, redis.call('ZCARD', KEYS[1])}
end
local first = math.max(place - tonumber(ARGV[2]), 0)
local last = place + tonumber(ARGV[2])
return {place, first, redis.call('ZREVRANGE', KEYS[1], first, last, 'WITHSCORES'), redis.call('ZCARD', KEYS[1])}
