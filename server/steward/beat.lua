-- Says that a server is alive, and notes it when none was for a while.
--
-- KEYS[1]  beat, a string: when a server last said so, in Unix milliseconds
-- KEYS[2]  outages:{beat}, a sorted set: 'from to' by to, in Unix milliseconds
-- KEYS[3]  rewound:{beat}, a hash about the last time that all this went back, as
--          when Redis was restored from a copy: at (when that was seen), from
--          (the beat of the copy, 0 for none) and before (a beat that was lost)
-- ARGV[1]  how many milliseconds without a word are an outage
-- ARGV[2]  for how many milliseconds an outage is remembered
-- ARGV[3]  beat as this server saw it last, 0 if it never did
--
-- Reply: {now, gap, beat, back}: the time in Unix milliseconds; how many
-- milliseconds nothing was heard, if that was an outage, else 0; beat as it is
-- now; and 1 if it is seen only now that it had gone back, else 0.
--
-- Invariant: beat goes back only with all of Redis, and whoever saw the beat that
-- was lost notes it once; every gap between two of its values that is an outage
-- stands in the set once.

local clock = redis.call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
local stored, seen = tonumber(redis.call('GET', KEYS[1])), tonumber(ARGV[3])
local last, back = stored or now, 0
if seen > (stored or 0) then
  back = 1
  redis.call('HSET', KEYS[3], 'at', string.format('%.0f', now),
    'from', string.format('%.0f', stored or 0), 'before', ARGV[3])
end
if now < last then return {now, 0, last, back} end
redis.call('SET', KEYS[1], string.format('%.0f', now))
local gap = now - last
if gap <= tonumber(ARGV[1]) then return {now, 0, now, back} end
local to = string.format('%.0f', now)
redis.call('ZADD', KEYS[2], to, string.format('%.0f', last) .. ' ' .. to)
redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', string.format('%.0f', now - ARGV[2]))
return {now, gap, now, back}
