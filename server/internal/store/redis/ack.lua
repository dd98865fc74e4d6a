-- Ends a lease, unless the job was enqueued or leased again since.
--
-- KEYS[1]  due, a sorted set: game id by Unix milliseconds
-- ARGV[1]  game id
-- ARGV[2]  the lease: when it expires
-- ARGV[3]  when the job is due next in Unix milliseconds, '' for never
--
-- Reply: 1 if the job was set or removed, 0 if the lease has ended.

local at = redis.call('ZSCORE', KEYS[1], ARGV[1])
if not at or tonumber(at) ~= tonumber(ARGV[2]) then return 0 end
if ARGV[3] == '' then
  return redis.call('ZREM', KEYS[1], ARGV[1])
end
redis.call('ZADD', KEYS[1], ARGV[3], ARGV[1])
return 1
