-- Says that a server is alive, and notes it when none was for a while.
--
-- KEYS[1]  beat, a string: when a server last said so, in Unix milliseconds
-- KEYS[2]  outages:{beat}, a sorted set: 'from to' by to, in Unix milliseconds
-- ARGV[1]  how many milliseconds without a word are an outage
-- ARGV[2]  for how many milliseconds an outage is remembered
--
-- Reply: {now, gap}: the time in Unix milliseconds, and how many milliseconds
-- nothing was heard, if that was an outage, else 0.
--
-- Invariant: beat never goes back, and every gap between two of its values that
-- is an outage stands in the set once.

local clock = redis.call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
local last = tonumber(redis.call('GET', KEYS[1]) or now)
if now < last then return {now, 0} end
redis.call('SET', KEYS[1], string.format('%.0f', now))
local gap = now - last
if gap <= tonumber(ARGV[1]) then return {now, 0} end
local to = string.format('%.0f', now)
redis.call('ZADD', KEYS[2], to, string.format('%.0f', last) .. ' ' .. to)
redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', string.format('%.0f', now - ARGV[2]))
return {now, gap}
