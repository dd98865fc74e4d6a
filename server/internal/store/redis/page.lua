-- Reads a list of games downwards from a place in it.
--
-- KEYS[1]  games:... or player:{id}:games     sorted set: score -> game id
-- ARGV[1]  how many to return at most
-- ARGV[2]  score, and
-- ARGV[3]  game id of the entry behind which to begin; both absent: at the top
-- Reply    {game id, score, game id, score, ...}, greatest (score, id) first
--
-- Invariant: nothing is written. What is returned is below (score, id), whether
-- or not that entry is still there, so what moves elsewhere in the list shifts
-- no page.
local key, score, id = KEYS[1], ARGV[2], ARGV[3]
local first = 0
if score then
  local now = redis.call('ZSCORE', key, id)
  if now and tonumber(now) == tonumber(score) then
    first = redis.call('ZREVRANK', key, id) + 1
  else
    -- The entry left its place. Search for it among the entries of its score,
    -- whose ids run downwards.
    first = redis.call('ZCOUNT', key, '(' .. score, '+inf')
    local last = first + redis.call('ZCOUNT', key, score, score)
    while first < last do
      local middle = math.floor((first + last) / 2)
      if redis.call('ZREVRANGE', key, middle, middle)[1] > id then
        first = middle + 1
      else
        last = middle
      end
    end
  end
end
return redis.call('ZREVRANGE', key, first, first + tonumber(ARGV[1]) - 1, 'WITHSCORES')
