-- Claims a name or an SSH key for an account, temporarily or permanently.
--
-- KEYS[1]  player-name:{folded name} or player:ssh-key:{fingerprint}
-- ARGV[1]  the owner to be
-- ARGV[2]  the time in milliseconds after which the claim expires; 0 for never
-- ARGV[3]  and following: owners that may be replaced
-- Reply    {owner, permanent, new}: the owner now, '1' if the claim is permanent, else
--          '0', and '1' if this call made it, else '0'
--
-- Invariant: an owner is replaced only if the caller listed it, and a permanent claim
-- of an owner that is not listed never becomes temporary.
local owner = redis.call('GET', KEYS[1])
local free = not owner
for i = 3, #ARGV do
  free = free or owner == ARGV[i]
end
if free and ARGV[2] ~= '0' then
  redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
elseif free then
  redis.call('SET', KEYS[1], ARGV[1])
elseif owner == ARGV[1] and ARGV[2] == '0' then
  redis.call('PERSIST', KEYS[1])
end
return {redis.call('GET', KEYS[1]), redis.call('PTTL', KEYS[1]) == -1 and '1' or '0', free and '1' or '0'}
