-- Returns how much longer a game with only bots will run ('ask'), extends or starts
-- the run of one or several games ('run'), or removes them ('end').
--
-- KEYS[1]  exhibitions, a sorted set: '<game> <player> <address>' by the Unix
--          milliseconds at which the game is paused. The player created the game,
--          or is the race that it is part of; the address identifies the address
--          that it counts toward
-- ARGV[1]  'ask', 'run' or 'end'
-- ARGV[2]  the games, separated by spaces; one for 'ask'
-- ARGV[3]  the player who created them, or the race
-- ARGV[4]  what identifies the address
-- ARGV[5]  how many milliseconds the games may run from now
-- ARGV[6]  the maximum number of running games of one player, ARGV[7] of one
--          address, ARGV[8] in total; 0 for no limit
--
-- Reply: {left, resumed, full, retry}: how many more milliseconds the game will
-- run, 0 if it is paused; 1 if this call started or resumed any game, else 0; the
-- limit that the games would exceed (1 for the player's, 2 for the address's, 3 for
-- the total, 0 for none); and the milliseconds to wait before trying again.
--
-- Invariant: no call makes more games run than a limit allows. An entry that is not
-- renewed expires, so a dead server's games soon stop counting.

local set, order, player, address = KEYS[1], ARGV[1], ARGV[3], ARGV[4]
local clock = redis.call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
local entries = redis.call('ZRANGEBYSCORE', set, '(' .. string.format('%.0f', now), '+inf', 'WITHSCORES')

-- paused contains the games that are not running, and own the entries of those that are.
local paused, n = {}, 0
for game in string.gmatch(ARGV[2], '%S+') do
  if not paused[game] then paused[game], n = true, n + 1 end
end
local own, left = {}, 0

-- The entries are ordered by expiry.
local count, first = {0, 0, 0}, {}
for i = 1, #entries, 2 do
  local g, p, a = string.match(entries[i], '^(%S+) (%S+) (%S*)$')
  if paused[g] then
    own[#own + 1], left = entries[i], tonumber(entries[i + 1]) - now
    paused[g], n = nil, n - 1
  end
  for limit, counts in ipairs({p == player, a == address, true}) do
    if counts then
      count[limit] = count[limit] + 1
      first[limit] = first[limit] or tonumber(entries[i + 1]) - now
    end
  end
end
if order == 'ask' then return {left, 0, 0, 0} end
if order == 'end' then
  for _, entry in ipairs(own) do redis.call('ZREM', set, entry) end
  return {0, 0, 0, 0}
end
if n > 0 then
  for limit = 1, 3 do
    local most = tonumber(ARGV[5 + limit])
    if most > 0 and count[limit] + n > most then
      return {0, 0, limit, first[limit] or tonumber(ARGV[5])}
    end
  end
end
redis.call('ZREMRANGEBYSCORE', set, '-inf', string.format('%.0f', now))
for game in pairs(paused) do own[#own + 1] = game .. ' ' .. player .. ' ' .. address end
for _, entry in ipairs(own) do redis.call('ZADD', set, string.format('%.0f', now + ARGV[5]), entry) end
return {tonumber(ARGV[5]), n > 0 and 1 or 0, 0, 0}
