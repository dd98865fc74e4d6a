-- Claims a name for an account, temporarily or permanently.
--
-- KEYS[1]  player-name:{folded name}
-- ARGV[1]  ID of the player who wants the name
-- ARGV[2]  the time in seconds after which the claim expires; 0 for never
-- Reply    {holder, permanent, new}: ID of the player who holds the name now, '1' if
--          the claim is permanent, else '0', and '1' if this call made it, else '0'
--
-- Invariant: a held name is never given to another ID, and a permanent claim never
-- becomes temporary.
local holder = redis.call('GET', KEYS[1])
if not holder then
  if ARGV[2] == '0' then
    redis.call('SET', KEYS[1], ARGV[1])
    return {ARGV[1], '1', '1'}
  end
  redis.call('SET', KEYS[1], ARGV[1], 'EX', ARGV[2])
  return {ARGV[1], '0', '1'}
end
if holder == ARGV[1] and ARGV[2] == '0' then
  redis.call('PERSIST', KEYS[1])
end
return {holder, redis.call('PTTL', KEYS[1]) == -1 and '1' or '0', '0'}
