-- Leases jobs that are due: each is put off, so that no other server processes it
-- in the meantime, and is due again if the server dies.
--
-- KEYS[1]  due, a sorted set: game id by Unix milliseconds
-- ARGV[1]  how many jobs at most
-- ARGV[2]  how long the lease lasts, in milliseconds
--
-- Reply: {expires, id, id, …}: when the leases expire in Unix milliseconds, which
-- identifies them, and the games.

local clock = redis.call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
local expires = string.format('%.0f', now + ARGV[2])
local ids = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', string.format('%.0f', now), 'LIMIT', 0, ARGV[1])
for _, id in ipairs(ids) do
  redis.call('ZADD', KEYS[1], expires, id)
end
table.insert(ids, 1, expires)
return ids
