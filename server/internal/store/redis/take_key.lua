-- Makes an account the owner of an SSH key, unless the key has another owner.
--
-- KEYS[1]  player:ssh-key:{fingerprint}
-- ARGV[1]  the new owner
-- ARGV[2]  the time in milliseconds after which ownership expires; 0 for never
-- ARGV[3]  another owner, who may be replaced
-- Reply    the current owner
--
-- Invariant: no other owner is replaced.
local owner = redis.call('GET', KEYS[1])
if owner and owner ~= ARGV[1] and owner ~= ARGV[3] then
  return owner
end
if ARGV[2] == '0' then
  redis.call('SET', KEYS[1], ARGV[1])
else
  redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
end
return ARGV[1]
