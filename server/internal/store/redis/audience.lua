-- Stores one server's count of a game's spectators, and adds up the counts of all
-- servers.
--
-- KEYS[1]  the audience hash: server -> 'count time', time in Unix seconds
-- KEYS[2]  the meta hash of the same game, which stores the total for lists
-- ARGV[1]  the reporting server
-- ARGV[2]  the number of spectators on that server
-- ARGV[3]  the channel that the game's followers listen on
-- ARGV[4]  how many seconds a report is valid
-- ARGV[5]  the command that publishes: publish, or spublish on a cluster
-- ARGV[6]  the numbers of reactions since the last report, each after a space; '' if none
--
-- Reply: the total, which is also published, with the reactions.
--
-- Invariant: the hash contains only servers that reported within ARGV[4] seconds,
-- and expires when none has. A report from the future is from before the clock was set
-- back; a server that still runs soon repeats it.

local now = tonumber(redis.call('TIME')[1])
if tonumber(ARGV[2]) > 0 then
  redis.call('HSET', KEYS[1], ARGV[1], ARGV[2] .. ' ' .. now)
else
  redis.call('HDEL', KEYS[1], ARGV[1])
end
local total, all = 0, redis.call('HGETALL', KEYS[1])
for i = 1, #all, 2 do
  local count, at = string.match(all[i + 1], '^(%d+) (%d+)$')
  if at and math.abs(now - tonumber(at)) <= tonumber(ARGV[4]) then
    total = total + tonumber(count)
  else
    redis.call('HDEL', KEYS[1], all[i])
  end
end
redis.call('EXPIRE', KEYS[1], ARGV[4])
if redis.call('EXISTS', KEYS[2]) == 1 then
  redis.call('HSET', KEYS[2], 'watchers', total .. ' ' .. now)
end
redis.call(ARGV[5], ARGV[3], 'a ' .. total .. ARGV[6])
return total
