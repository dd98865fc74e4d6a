-- Finds a player's place on a board, and those around it.
--
-- KEYS[1]  scores:{variant:window}
-- KEYS[2]  scores:{variant:window}:best
-- ARGV[1]  id of the player
-- ARGV[2]  how many entries to add above and as many below
-- Reply    {Redis's time in Unix seconds}, and if the player is on the board also
--          the player's place (from 0), the place of the first entry that
--          follows, and the entries as {member, score, member, score, ...}
--
-- Invariant: nothing is written, and all that is returned is of one moment.
local now = redis.call('TIME')[1]
local member = redis.call('HGET', KEYS[2], ARGV[1])
local place = member and redis.call('ZREVRANK', KEYS[1], member)
if not place then
  return {now}
end
if ARGV[2] == '0' then
  -- Its place need not be looked up again.
  return {now, place, place, {member, redis.call('ZSCORE', KEYS[1], member)}}
end
local first = math.max(place - tonumber(ARGV[2]), 0)
local last = place + tonumber(ARGV[2])
return {now, place, first, redis.call('ZREVRANGE', KEYS[1], first, last, 'WITHSCORES')}
