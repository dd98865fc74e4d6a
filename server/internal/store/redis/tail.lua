-- Reads the end of a game's log and its meta atomically.
--
-- KEYS[1]  the log
-- KEYS[2]  the meta hash
-- KEYS[3]  the audience hash, which exists while any server reports spectators
--
-- Reply: {length, last, {meta, watchers}, audience}: the number of entries; the ID
-- of the last one, '' if the log is empty; the fields last and watchers (see
-- audience.lua) of meta, each nil if missing; 1 if the audience hash exists, else 0.

local tail = redis.call('XREVRANGE', KEYS[1], '+', '-', 'COUNT', 1)[1]
return {
  redis.call('XLEN', KEYS[1]), tail and tail[1] or '',
  redis.call('HMGET', KEYS[2], 'last', 'watchers'), redis.call('EXISTS', KEYS[3]),
}
