-- Sets the time at which a session expires.
--
-- KEYS[1]  player:{id}:sessions
-- ARGV[1]  ID of the session
-- ARGV[2]  the time in milliseconds after which it expires
--
-- Invariant: renewing never opens a session, nor one that has expired.
local opened, expires, comment = string.match(redis.call('HGET', KEYS[1], ARGV[1]) or '', '^(%d+) (%d+) (.*)$')
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
if opened and (expires == '0' or tonumber(expires) > now) then
  local value = opened .. ' ' .. string.format('%.0f', now + tonumber(ARGV[2])) .. ' ' .. comment
  redis.call('HSET', KEYS[1], ARGV[1], value)
end
return 0
