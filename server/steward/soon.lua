-- Notes that somebody must look at a game soon, or sooner than noted before.
--
-- KEYS[1]  due, a sorted set: game id by Unix milliseconds
-- ARGV[1]  game id
-- ARGV[2]  in how many milliseconds
--
-- Reply: 1 when it is new in the set or earlier than it was, else 0.

local clock = redis.call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
return redis.call('ZADD', KEYS[1], 'LT', 'CH', string.format('%.0f', now + ARGV[2]), ARGV[1])
