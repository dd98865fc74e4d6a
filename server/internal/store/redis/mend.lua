-- Writes the meta of a log that it fell behind, as after a script that failed
-- after it wrote the entry.
--
-- KEYS[1]  the log
-- KEYS[2]  the meta hash
-- ARGV[1]  ID of the log's last entry
-- ARGV[2]  its time in Unix milliseconds
-- ARGV[3]  the head that goes with it
--
-- Reply: {1} if written, {0} if the log has moved on or meta names an entry that
-- the log does not hold.
--
-- Invariant: meta names the log's last entry, unless the log is damaged.

local tail = redis.call('XREVRANGE', KEYS[1], '+', '-', 'COUNT', 1)[1]
if not tail or tail[1] ~= ARGV[1] then return {0} end
local meta = redis.call('HGET', KEYS[2], 'last')
if meta and #redis.pcall('XRANGE', KEYS[1], meta, meta) == 0 then return {0} end
redis.call('HSET', KEYS[2], 'last', ARGV[1], 'time', ARGV[2], 'head', ARGV[3])
return {1}
