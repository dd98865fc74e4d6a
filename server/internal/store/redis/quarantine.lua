-- Marks a game as damaged: its meta names an entry that no log contains, so that
-- later appends fail and readers see that the game is in quarantine.
--
-- KEYS[1]  the log
-- KEYS[2]  the meta hash
-- ARGV[1]  ID of the log's last entry that the caller saw, '' for a missing log
-- ARGV[2]  the ID that no entry has
-- ARGV[3]  the time in milliseconds after which the game expires
--
-- Reply: 1 if the game is now in quarantine, 0 if the log does not end with
-- ARGV[1].

local tail = redis.call('XREVRANGE', KEYS[1], '+', '-', 'COUNT', 1)[1]
if (tail and tail[1] or '') ~= ARGV[1] then return 0 end
redis.call('HSET', KEYS[2], 'last', ARGV[2])
redis.call('PEXPIRE', KEYS[1], ARGV[3])
redis.call('PEXPIRE', KEYS[2], ARGV[3])
return 1
