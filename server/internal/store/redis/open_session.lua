-- Opens a session of an account with its link.
--
-- KEYS[1]  player:{id}
-- KEYS[2]  player:{id}:link
-- KEYS[3]  player:{id}:sessions
-- ARGV[1]  the link
-- ARGV[2]  ID of the session
-- ARGV[3]  comment
-- ARGV[4]  the maximum number of sessions of the account
-- ARGV[5]  the time in milliseconds after which it expires unless renewed, 0 for never
-- Reply    'none' if the link is not the account's or opened another session, 'full' if the
--          account has reached the limit, else the session as stored
--
-- Invariant: a link opens one session, and none that was ended. The sessions expire with the account.
local link, used = redis.call('GET', KEYS[2]), ARGV[1] .. ' ' .. ARGV[2]
if redis.call('EXISTS', KEYS[1]) == 0 or link ~= ARGV[1] and link ~= used then
  return 'none'
end
if link == used then
  return redis.call('HGET', KEYS[3], ARGV[2]) or 'none'
end
local time = redis.call('TIME')
local now = time[1] .. string.format('%03d', math.floor(tonumber(time[2]) / 1000))
local all, sessions = redis.call('HGETALL', KEYS[3]), 0
for i = 1, #all, 2 do
  local expires = tonumber(string.match(all[i + 1], '^%d+ (%d+)'))
  if expires ~= 0 and expires <= tonumber(now) then
    redis.call('HDEL', KEYS[3], all[i])
  else
    sessions = sessions + 1
  end
end
if sessions >= tonumber(ARGV[4]) then
  return 'full'
end
local expires = ARGV[5] == '0' and '0' or string.format('%.0f', tonumber(now) + tonumber(ARGV[5]))
redis.call('HSET', KEYS[3], ARGV[2], now .. ' ' .. expires .. ' ' .. ARGV[3])
redis.call('SET', KEYS[2], used, 'KEEPTTL')
local left = redis.call('PTTL', KEYS[1])
if left > 0 then
  redis.call('PEXPIRE', KEYS[3], left)
end
return redis.call('HGET', KEYS[3], ARGV[2])
