-- Says where a game's log and its meta end, as of one moment.
--
-- KEYS[1]  the log
-- KEYS[2]  the meta hash
-- KEYS[3]  the audience hash, which is there while somebody speaks of watchers
--
-- Reply: {length, last, {meta, watchers}, audience}: the number of entries, the
-- ID of the last one, '' for none; the ID that meta names as the last, and what
-- it says of watchers (see audience.lua), each nil for none; 1 if there is an
-- audience, else 0.

local tail = redis.call('XREVRANGE', KEYS[1], '+', '-', 'COUNT', 1)[1]
return {
  redis.call('XLEN', KEYS[1]), tail and tail[1] or '',
  redis.call('HMGET', KEYS[2], 'last', 'watchers'), redis.call('EXISTS', KEYS[3]),
}
