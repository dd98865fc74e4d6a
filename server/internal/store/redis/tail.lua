-- Reads the end of a game's log and its meta atomically.
--
-- KEYS[1]  the log
-- KEYS[2]  the meta hash
--
-- Reply: {length, last, {meta, watchers}, time}: the number of entries; the ID of the
-- last one, '' if the log is empty; the fields last and watchers (see audience.lua) of
-- meta, each nil if missing; the time in Unix seconds.

local tail = redis.call('XREVRANGE', KEYS[1], '+', '-', 'COUNT', 1)[1]
return {
  redis.call('XLEN', KEYS[1]), tail and tail[1] or '',
  redis.call('HMGET', KEYS[2], 'last', 'watchers'), redis.call('TIME')[1],
}
