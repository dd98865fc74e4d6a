-- Says where a game's log and its meta end, as of one moment.
--
-- KEYS[1]  the log
-- KEYS[2]  the meta hash
--
-- Reply: {length, last, meta}: the number of entries, the ID of the last one
-- and the ID that meta names as the last; '' where there is none.

local tail = redis.call('XREVRANGE', KEYS[1], '+', '-', 'COUNT', 1)[1]
return {redis.call('XLEN', KEYS[1]), tail and tail[1] or '', redis.call('HGET', KEYS[2], 'last') or ''}
