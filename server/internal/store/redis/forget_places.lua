-- Removes places from a list.
--
-- KEYS[1]  challenges:<kind>, a sorted set: score -> id
-- ARGV     score, id, score, id, ...
-- Reply    false
--
-- Invariant: an ID whose score has changed stays in the list.
for i = 1, #ARGV, 2 do
  local score = redis.call('ZSCORE', KEYS[1], ARGV[i + 1])
  if score and tonumber(score) == tonumber(ARGV[i]) then
    redis.call('ZREM', KEYS[1], ARGV[i + 1])
  end
end
return false
