-- Writes an account unless it exists.
--
-- KEYS[1]  player:{id}
-- ARGV[1]  name
-- ARGV[2]  digest of the secret
-- ARGV[3]  bot, "1" or "0"
-- ARGV[4]  the time in milliseconds after which it expires unless renewed, 0 for never
-- Reply    {name, secret, bot, created, renamed} as stored
--
-- Invariant: an existing account is never overwritten. The time of creation (Unix
-- milliseconds) is by Redis's clock.
if redis.call('EXISTS', KEYS[1]) == 0 then
  local time = redis.call('TIME')
  local created = time[1] .. string.format('%03d', math.floor(tonumber(time[2]) / 1000))
  redis.call('HSET', KEYS[1], 'name', ARGV[1], 'secret', ARGV[2], 'bot', ARGV[3], 'created', created)
  if ARGV[4] ~= '0' then redis.call('PEXPIRE', KEYS[1], ARGV[4]) end
end
return redis.call('HMGET', KEYS[1], 'name', 'secret', 'bot', 'created', 'renamed')
