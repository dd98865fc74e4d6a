-- Gives an account another name.
--
-- KEYS[1]  player:{id}
-- ARGV[1]  the name to replace
-- ARGV[2]  the new name, which the account holds already
-- ARGV[3]  the time in milliseconds that must have passed since the last change; 0 for any
-- Reply    {name, secret, bot, created, renamed} as stored, without a name if the account
--          does not exist
--
-- Invariant: renaming never creates an account, and replaces no other name.
local name, renamed = unpack(redis.call('HMGET', KEYS[1], 'name', 'renamed'))
local time = redis.call('TIME')
local now = time[1] .. string.format('%03d', math.floor(tonumber(time[2]) / 1000))
if name == ARGV[1] and not (renamed and tonumber(now) - tonumber(renamed) < tonumber(ARGV[3])) then
  redis.call('HSET', KEYS[1], 'name', ARGV[2], 'renamed', now)
end
return redis.call('HMGET', KEYS[1], 'name', 'secret', 'bot', 'created', 'renamed')
