-- Returns how much longer a game with only bots will run ('ask'), extends or starts
-- its run ('run'), or removes it ('end').
--
-- KEYS[1]  exhibitions, a sorted set: '<game> <player> <address>' by the Unix
--          milliseconds at which the game is paused. The player created it, or
--          is a race's id; the address is that of the caller that first ran it
-- ARGV[1]  'ask', 'run' or 'end'
-- ARGV[2]  the game
-- ARGV[3]  the player who created it, or the race
-- ARGV[4]  the address of the caller
-- ARGV[5]  how many milliseconds the game may run from now
-- ARGV[6]  the maximum number of running games of one player, ARGV[7] of one
--          address, ARGV[8] in total; 0 for no limit
--
-- Reply: {left, resumed, full, retry}: how many more milliseconds the game will
-- run, 0 if it is paused; 1 if this call resumed it, else 0; the limit that keeps
-- it paused (1 for the player's, 2 for the address's, 3 for the total, 0 for none);
-- and the milliseconds to wait before trying again.
--
-- Invariant: no game starts to run at or above a limit. An entry that is not
-- renewed expires, so a dead server's games soon stop counting.

local set, order, game, player, address = KEYS[1], ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local clock = redis.call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
local entries = redis.call('ZRANGEBYSCORE', set, '(' .. string.format('%.0f', now), '+inf', 'WITHSCORES')

-- The entries are ordered by expiry.
local count, first = {0, 0, 0}, {}
local own, left
for i = 1, #entries, 2 do
  local g, p, a = string.match(entries[i], '^(%S+) (%S+) (%S*)$')
  if g == game then own, left = entries[i], tonumber(entries[i + 1]) - now end
  for n, counts in ipairs({p == player, a == address, true}) do
    if counts then
      count[n] = count[n] + 1
      first[n] = first[n] or tonumber(entries[i + 1]) - now
    end
  end
end
if order == 'ask' then return {left or 0, 0, 0, 0} end
if order == 'end' then
  if own then redis.call('ZREM', set, own) end
  return {0, 0, 0, 0}
end
if not own then
  for n = 1, 3 do
    local limit = tonumber(ARGV[5 + n])
    if limit > 0 and count[n] >= limit then return {0, 0, n, first[n]} end
  end
end
redis.call('ZREMRANGEBYSCORE', set, '-inf', string.format('%.0f', now))
redis.call('ZADD', set, string.format('%.0f', now + ARGV[5]), own or (game .. ' ' .. player .. ' ' .. address))
return {tonumber(ARGV[5]), own and 0 or 1, 0, 0}
