-- Makes an account the owner of an SSH key, unless the key has another owner.
--
-- KEYS[1]  player:ssh-key:{fingerprint}
-- ARGV[1]  the new owner
-- ARGV[2]  the time in milliseconds after which ownership expires; 0 for never
-- ARGV[3]  and following: owners that may be replaced
-- Reply    the current owner
--
-- Invariant: an owner is replaced only if the caller listed it.
local owner = redis.call('GET', KEYS[1])
local free = not owner or owner == ARGV[1]
for i = 3, #ARGV do
  free = free or owner == ARGV[i]
end
if not free then
  return owner
end
if ARGV[2] == '0' then
  redis.call('SET', KEYS[1], ARGV[1])
else
  redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
end
return ARGV[1]
