-- Removes the owner of an SSH key or of a name.
--
-- KEYS[1]  player:ssh-key:{fingerprint} or player-name:{form of the name}
-- ARGV[1]  the owner to remove
-- Reply    1, or 0 if it has another owner or no owner
if redis.call('GET', KEYS[1]) ~= ARGV[1] then
  return 0
end
return redis.call('DEL', KEYS[1])
