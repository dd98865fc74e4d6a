-- Reads part of a list, from a given place downward.
--
-- KEYS[1]  games:..., player:{id}:games or challenges:..., a sorted set: score -> id
-- ARGV[1]  the maximum number of entries to return
-- ARGV[2]  score, and
-- ARGV[3]  ID of the entry to start after; both omitted to start at the top
-- Reply    {id, score, id, score, ...}, greatest (score, id) first
--
-- Invariant: nothing is written. All returned entries are below (score, id),
-- whether or not that entry still exists, so entries that move within the list do
-- not shift pages.
local key, score, id = KEYS[1], ARGV[2], ARGV[3]
local first = 0
if score then
  local now = redis.call('ZSCORE', key, id)
  if now and tonumber(now) == tonumber(score) then
    first = redis.call('ZREVRANK', key, id) + 1
  else
    -- The entry has moved. Search for its old place among the entries with its old
    -- score, which are in descending order of ID.
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
