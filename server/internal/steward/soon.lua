-- Notes that somebody must look at a game soon, or sooner than noted before.
--
-- KEYS[1]  due, a sorted set: game id by Unix milliseconds
-- ARGV[1]  game id
-- ARGV[2]  in how many milliseconds
--
-- Reply: 1 when it is new in the set, else 0.
--
-- Invariant: a claim that this meets does not stand any more (settle.lua), since
-- whoever made it may have seen the game as it was before. What is noted for
-- earlier may be one, and comes up a millisecond sooner.

local clock = redis.call('TIME')
local soon = clock[1] * 1000 + math.floor(clock[2] / 1000) + ARGV[2]
local noted = tonumber(redis.call('ZSCORE', KEYS[1], ARGV[1]))
if noted and noted <= soon then soon = noted - 1 end
return redis.call('ZADD', KEYS[1], string.format('%.0f', soon), ARGV[1])
