-- Makes an account the owner of an SSH key unless the key has another owner.
--
-- KEYS[1]  player:ssh-key:{fingerprint}
-- ARGV[1]  owner to be
-- ARGV[2]  milliseconds after which it lapses; 0 for never
-- ARGV[3]  and on: owners that it may replace
-- Reply    the owner now
--
-- Invariant: an owner is replaced only by a caller who named it.
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
