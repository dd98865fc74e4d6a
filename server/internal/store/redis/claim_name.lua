-- Claims a name for an account, for a while or permanently.
--
-- KEYS[1]  player-name:{lower-case name}
-- ARGV[1]  id of the player who wants the name
-- ARGV[2]  seconds after which the claim lapses; 0 for good
-- Reply    {holder, lasting}: id of the player who holds the name now, and '1' if
--          that is for good, else '0'
--
-- Invariant: a name that is held is never given to another id, and a claim for
-- good never becomes one that lapses.
local holder = redis.call('GET', KEYS[1])
if not holder then
  if ARGV[2] == '0' then
    redis.call('SET', KEYS[1], ARGV[1])
    return {ARGV[1], '1'}
  end
  redis.call('SET', KEYS[1], ARGV[1], 'EX', ARGV[2])
  return {ARGV[1], '0'}
end
if holder == ARGV[1] and ARGV[2] == '0' then
  redis.call('PERSIST', KEYS[1])
end
return {holder, redis.call('PTTL', KEYS[1]) == -1 and '1' or '0'}
