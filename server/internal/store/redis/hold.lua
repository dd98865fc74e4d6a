-- Schedules a job after a delay, but not after a given time, whether or not it is
-- due earlier.
--
-- KEYS[1]  due, a sorted set: game ID by Unix milliseconds
-- ARGV[1]  game ID
-- ARGV[2]  the delay in milliseconds
-- ARGV[3]  the time from which the delay counts if it is in the future, in Unix
--          milliseconds
-- ARGV[4]  the latest time of the job in Unix milliseconds, '' for no limit
--
-- Reply: the time of the job in Unix milliseconds.
--
-- Invariant: this ends any lease on the job (ack.lua), because the server that
-- holds the lease may have read the game before this call. So the time of the job
-- changes by at least a millisecond.

local clock = redis.call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
local at = math.max(now, tonumber(ARGV[3])) + ARGV[2]
if ARGV[4] ~= '' then at = math.min(at, tonumber(ARGV[4])) end
if tonumber(redis.call('ZSCORE', KEYS[1], ARGV[1])) == at then at = at - 1 end
redis.call('ZADD', KEYS[1], string.format('%.0f', at), ARGV[1])
return at
