-- Appends one entry to a game's log, if the log still ends with the entry that the
-- new one builds on.
--
-- KEYS[1]  the log, a stream
-- KEYS[2]  the meta hash of the same game: last (ID of the last entry), time
--          (of the last entry), head (what lists show)
-- ARGV[1]  ID of the last entry that the new one builds on, '' if it is the first
-- ARGV[2]  ID of the new entry, version-digest
-- ARGV[3]  the entry
-- ARGV[4]  the head that belongs to it
-- ARGV[5]  the command that publishes: publish, or spublish on a cluster
-- ARGV[6]  earliest time of the entry in Unix milliseconds; omitted for no limit
-- ARGV[7]  latest time of the entry in Unix milliseconds, omitted or '' for no limit
-- ARGV[8]  the game's seed, with the first entry only
--
-- Reply: 'time' or 'time watchers'
--                          appended; time in Unix milliseconds, and the watchers
--                          field of meta (audience.lua)
--        {'moved', last}   the log ends with the ID last ('' if it is empty)
--        {'early', time}   ARGV[6] has not been reached
--        {'late', time}    ARGV[7] has passed
--        {'broken'}        log and meta contradict each other
--
-- Invariant: the entries of a log have the versions 1, 2, 3, … without gaps, each
-- directly follows the entry that its digest builds on, and meta belongs to the
-- last one. If the reply is a table, nothing was written. After XADD the script
-- uses pcall only: after an error there, the caller would believe that the entry is
-- not in the log.
--
-- Every move runs this script. Numbers stay strings because a conversion takes as
-- long as a small command.

local log, meta, new, entry = KEYS[1], KEYS[2], ARGV[2], ARGV[3]

local tail = redis.call('XREVRANGE', log, '+', '-', 'COUNT', '1')[1]
local last = tail and tail[1] or ''
if last ~= ARGV[1] then return {'moved', last} end

-- A meta that has fallen behind names an earlier entry of the log. If that entry is
-- not in the log, the log has lost it. Use pcall because the ID in a damaged meta
-- may be invalid.
local fields = redis.call('HMGET', meta, 'last', 'watchers')
local named, watchers = fields[1], fields[2]
if redis.call('XLEN', log) ~= string.match(new, '^%d+') - 1
    or (named and named ~= last and #redis.pcall('XRANGE', log, named, named) == 0) then
  return {'broken'}
end

-- The milliseconds are the first three digits of the microseconds, zero-padded to
-- six.
local clock = redis.call('TIME')
local time = clock[1] .. string.sub('00000' .. clock[2], -6, -4)
if tail then
  local values = tail[2]
  for i = 1, #values, 2 do
    if values[i] == 't' and tonumber(values[i + 1]) > tonumber(time) then time = values[i + 1] end
  end
end
if ARGV[6] then
  if tonumber(time) < tonumber(ARGV[6]) then return {'early', time} end
  if ARGV[7] and ARGV[7] ~= '' and tonumber(time) > tonumber(ARGV[7]) then return {'late', time} end
end

if ARGV[8] then
  redis.call('XADD', log, new, 't', time, 'e', entry, 's', ARGV[8])
else
  redis.call('XADD', log, new, 't', time, 'e', entry)
end
redis.pcall('HSET', meta, 'last', new, 'time', time, 'head', ARGV[4])
local feed = string.sub(log, 1, -4) .. 'feed' -- game:{id}:log, game:{id}:feed
redis.pcall(ARGV[5], feed, 'e ' .. new .. ' ' .. time .. ' ' .. entry)
return watchers and time .. ' ' .. watchers or time
