-- Claims games that are due: each is put off, so that no other server looks at
-- it meanwhile, and comes up again if the one that claimed it dies.
--
-- KEYS[1]  due
-- ARGV[1]  how many games at most
-- ARGV[2]  for how many milliseconds
--
-- Reply: {until, id, id, …}: the moment in Unix milliseconds to which they were
-- put off, which is what a claim is recognised by, and the games.

local clock = redis.call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
local later = string.format('%.0f', now + ARGV[2])
local ids = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', string.format('%.0f', now), 'LIMIT', 0, ARGV[1])
for _, id in ipairs(ids) do
  redis.call('ZADD', KEYS[1], later, id)
end
table.insert(ids, 1, later)
return ids
