-- Marks a game as damaged: its meta names an entry that no log holds, so
-- that nothing is appended after this and readers are told.
--
-- KEYS[1]  the log
-- KEYS[2]  the meta hash
-- ARGV[1]  ID of the log's last entry as the caller saw it, '' for none
-- ARGV[2]  the ID that no log holds
-- ARGV[3]  the time in milliseconds after which the game is forgotten
--
-- Reply: {1} if it is in quarantine, {0} if the log does not end with ARGV[1].

local tail = redis.call('XREVRANGE', KEYS[1], '+', '-', 'COUNT', 1)[1]
if (tail and tail[1] or '') ~= ARGV[1] then return {0} end
redis.call('HSET', KEYS[2], 'last', ARGV[2])
redis.call('PEXPIRE', KEYS[1], ARGV[3])
redis.call('PEXPIRE', KEYS[2], ARGV[3])
return {1}
