-- Schedules a job after a delay, unless it is due earlier.
--
-- KEYS[1]  due, a sorted set: game id by Unix milliseconds
-- ARGV[1]  game id
-- ARGV[2]  the delay in milliseconds
--
-- Reply: 1 if the game had no job, else 0.
--
-- Invariant: a lease of the job ends (ack.lua), since the server that holds it may
-- have read the game before this call. An earlier time may be such a lease, so it
-- is moved forward by a millisecond.

local clock = redis.call('TIME')
local at = clock[1] * 1000 + math.floor(clock[2] / 1000) + ARGV[2]
local scheduled = tonumber(redis.call('ZSCORE', KEYS[1], ARGV[1]))
if scheduled and scheduled <= at then at = scheduled - 1 end
return redis.call('ZADD', KEYS[1], string.format('%.0f', at), ARGV[1])
