-- Updates the meta of a log if it has fallen behind, for example because append.lua
-- failed after it wrote the entry.
--
-- KEYS[1]  the log
-- KEYS[2]  the meta hash
-- ARGV[1]  ID of the log's last entry
-- ARGV[2]  its time in Unix milliseconds
-- ARGV[3]  the head that belongs to it
--
-- Reply: 1 if it was written, 0 if the log has grown or meta names an entry
-- that is not in the log.
--
-- Invariant: meta names the log's last entry, unless the log is damaged.

local tail = redis.call('XREVRANGE', KEYS[1], '+', '-', 'COUNT', 1)[1]
if not tail or tail[1] ~= ARGV[1] then return 0 end
local meta = redis.call('HGET', KEYS[2], 'last')
if meta and #redis.pcall('XRANGE', KEYS[1], meta, meta) == 0 then return 0 end
redis.call('HSET', KEYS[2], 'last', ARGV[1], 'time', ARGV[2], 'head', ARGV[3])
return 1
