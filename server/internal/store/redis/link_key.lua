-- Adds an SSH key to an account.
--
-- KEYS[1]  player:{id}
-- KEYS[2]  player:{id}:keys
-- ARGV[1]  fingerprint
-- ARGV[2]  comment
-- ARGV[3]  the maximum number of other keys of the account; 0 for no limit
-- Reply    {'none'} if the account does not exist, {'full'} if it has reached the
--          limit, else {time and comment as stored, milliseconds after which the
--          account expires or -1}
--
-- Invariant: a key that the account already has is not changed. The keys expire
-- with the account.
if redis.call('EXISTS', KEYS[1]) == 0 then
  return {'none'}
end
if redis.call('HEXISTS', KEYS[2], ARGV[1]) == 0 then
  if ARGV[3] ~= '0' and redis.call('HLEN', KEYS[2]) >= tonumber(ARGV[3]) then
    return {'full'}
  end
  local time = redis.call('TIME')
  local added = time[1] .. string.format('%03d', math.floor(tonumber(time[2]) / 1000))
  redis.call('HSET', KEYS[2], ARGV[1], added .. ' ' .. ARGV[2])
end
local left = redis.call('PTTL', KEYS[1])
if left > 0 then
  redis.call('PEXPIRE', KEYS[2], left)
end
return {redis.call('HGET', KEYS[2], ARGV[1]), tostring(left)}
