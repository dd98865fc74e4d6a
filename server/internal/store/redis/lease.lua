-- Leases jobs that are due. Each is postponed by the duration of the lease, so that
-- no other server processes it in the meantime, and so that it becomes due again if
-- the server dies.
--
-- KEYS[1]  due, a sorted set: game ID by Unix milliseconds
-- ARGV[1]  the maximum number of jobs
-- ARGV[2]  the duration of the lease in milliseconds
--
-- Reply: {expires, id, id, …}: the time in Unix milliseconds at which the leases
-- expire, and the games. The time identifies the leases.

local clock = redis.call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
local expires = string.format('%.0f', now + ARGV[2])
local ids = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', string.format('%.0f', now), 'LIMIT', 0, ARGV[1])
for _, id in ipairs(ids) do
  redis.call('ZADD', KEYS[1], expires, id)
end
table.insert(ids, 1, expires)
return ids
