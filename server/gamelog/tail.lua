-- Says where a game's log and its meta end, as of one moment.
--
-- KEYS[1]  the log
-- KEYS[2]  the meta hash
--
-- Reply: {length, last, meta, watchers, now}: the number of entries, the ID of
-- the last one, the ID that meta names as the last, what meta says of watchers
-- (see audience.lua), '' where there is none; and the time in Unix seconds.

local tail = redis.call('XREVRANGE', KEYS[1], '+', '-', 'COUNT', 1)[1]
local meta = redis.call('HMGET', KEYS[2], 'last', 'watchers')
return {
  redis.call('XLEN', KEYS[1]), tail and tail[1] or '', meta[1] or '', meta[2] or '',
  redis.call('TIME')[1],
}
