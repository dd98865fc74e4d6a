-- Writes a meta that fell behind its log, as after a script that could write
-- the entry and nothing more.
--
-- KEYS[1]  the log
-- KEYS[2]  the meta hash
-- ARGV[1]  ID of the log's last entry
-- ARGV[2]  its time in Unix milliseconds
-- ARGV[3]  the head that goes with it
--
-- Reply: {1} when written, {0} when the log has moved on meanwhile, or meta
-- names an entry that the log does not hold.
--
-- Invariant: meta never names an entry that is not the log's last, unless it
-- says that the log was damaged.

local tail = redis.call('XREVRANGE', KEYS[1], '+', '-', 'COUNT', 1)[1]
if not tail or tail[1] ~= ARGV[1] then return {0} end
local meta = redis.call('HGET', KEYS[2], 'last')
if meta and #redis.pcall('XRANGE', KEYS[1], meta, meta) == 0 then return {0} end
redis.call('HSET', KEYS[2], 'last', ARGV[1], 'time', ARGV[2], 'head', ARGV[3])
return {1}
