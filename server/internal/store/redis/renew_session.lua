-- Sets the time at which a session expires.
--
-- KEYS[1]  player:{id}:sessions
-- ARGV[1]  ID of the session
-- ARGV[2]  the time in milliseconds after which it expires
--
-- Invariant: renewing never opens a session.
local opened, comment = string.match(redis.call('HGET', KEYS[1], ARGV[1]) or '', '^(%d+) %d+ (.*)$')
if opened then
  local time = redis.call('TIME')
  local expires = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000) + tonumber(ARGV[2])
  redis.call('HSET', KEYS[1], ARGV[1], opened .. ' ' .. string.format('%.0f', expires) .. ' ' .. comment)
end
return 0
