-- Ends a lease, unless the job was enqueued or leased again in the meantime.
--
-- KEYS[1]  due, a sorted set: game ID by Unix milliseconds
-- ARGV[1]  game ID
-- ARGV[2]  the time at which the lease expires, which identifies the lease
-- ARGV[3]  the time in Unix milliseconds at which the job is due next, '' for never
--
-- Reply: 1 if the job was rescheduled or removed, 0 if the lease has ended.

local at = redis.call('ZSCORE', KEYS[1], ARGV[1])
if not at or tonumber(at) ~= tonumber(ARGV[2]) then return 0 end
if ARGV[3] == '' then
  return redis.call('ZREM', KEYS[1], ARGV[1])
end
redis.call('ZADD', KEYS[1], ARGV[3], ARGV[1])
return 1
