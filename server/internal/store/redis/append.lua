-- Appends one entry to a game's log, if it still ends with the entry that the
-- new one builds on.
--
-- KEYS[1]  the log, a stream
-- KEYS[2]  the meta hash of the same game: last (ID of the last entry), time
--          (of the last entry), head (what lists show)
-- ARGV[1]  ID of the last entry that the new one builds on, '' for none
-- ARGV[2]  ID of the new entry, version-digest
-- ARGV[3]  the entry
-- ARGV[4]  the head that goes with it
-- ARGV[5]  the command that publishes, publish, or spublish on a cluster
-- ARGV[6]  earliest time of the entry in Unix milliseconds, left out for any
-- ARGV[7]  latest time of the entry in Unix milliseconds, left out or '' for any
-- ARGV[8]  the game's seed, with the first entry alone
--
-- Reply: 'time' or 'time watchers'  appended; time in Unix milliseconds, and
--                                   what meta says of watchers (audience.lua)
--        {'moved', last, entry}  the log ends with the ID last ('' when it is
--                                empty); entry is what stands at the version of
--                                ARGV[2] as XRANGE gives it, or nothing
--        {'early', time}         it is not ARGV[6] yet
--        {'late', time}          ARGV[7] has passed
--        {'broken'}              log and meta contradict each other
--
-- Invariant: the entries of a log have the versions 1, 2, 3, … without a gap,
-- each was appended to the one that its digest builds on, and meta is that of
-- the last. Where the reply is a table, nothing was written. After XADD only
-- pcall: an error there would deny an entry that is in the log.
--
-- Every move runs this script. Numbers stay strings, since each conversion takes
-- as long as a small command.

local log, meta, new, entry = KEYS[1], KEYS[2], ARGV[2], ARGV[3]
local version = string.match(new, '^%d+')

local tail = redis.call('XREVRANGE', log, '+', '-', 'COUNT', '1')[1]
local last = tail and tail[1] or ''
if last ~= ARGV[1] then
  local standing = redis.call('XRANGE', log, version, version)
  return {'moved', last, standing[1] or false}
end

-- A meta that fell behind names an earlier entry of the log. Any other entry that
-- it names is one that the log has lost. pcall: a damaged meta may name no ID.
local fields = redis.call('HMGET', meta, 'last', 'watchers')
local named, watchers = fields[1], fields[2]
if redis.call('XLEN', log) ~= version - 1
    or (named and named ~= last and #redis.pcall('XRANGE', log, named, named) == 0) then
  return {'broken'}
end

-- Milliseconds: the first three of six digits of the microseconds, padded.
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
