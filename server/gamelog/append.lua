-- Appends one entry to a game's log, if it still ends as the caller thinks.
--
-- KEYS[1]  the log, a stream
-- KEYS[2]  the meta hash of the same game: last (ID of the last entry), time
--          (of the last entry), head (what lists show)
-- ARGV[1]  ID of the last entry that the new one builds on, '' for none
-- ARGV[2]  ID of the new entry, version-digest
-- ARGV[3]  the entry
-- ARGV[4]  the head that goes with it
-- ARGV[5]  the game's seed with the first entry, else ''
-- ARGV[6]  earliest time of the entry in Unix milliseconds, 0 for any
-- ARGV[7]  channel on which the game's followers listen
--
-- Reply: {'ok', time, watchers}  appended; time in Unix milliseconds, and what
--                                meta says of watchers, '' for nothing
--        {'moved', last, entry}  the log ends with the ID last ('' when it is
--                                empty); entry is what stands at the version of
--                                ARGV[2] as XRANGE gives it, or nothing
--        {'early', time}         it is not ARGV[6] yet
--        {'broken'}              log and meta contradict each other
--
-- Invariant: the entries of a log have the versions 1, 2, 3, … without a gap,
-- each was appended to the one that its digest builds on, and meta is that of
-- the last. Whatever the reply but 'ok', nothing was written. After XADD only
-- pcall: an error there would deny an entry that is in the log.

local function version(id) return tonumber(string.match(id, '^(%d+)-')) end

local tail = redis.call('XREVRANGE', KEYS[1], '+', '-', 'COUNT', 1)[1]
local last = tail and tail[1] or ''
local new = version(ARGV[2])

if last ~= ARGV[1] then
  local standing = redis.call('XRANGE', KEYS[1], new, new)
  return {'moved', last, standing[1] or false}
end

-- A meta that fell behind names an earlier entry; what the log does not hold,
-- it has lost. pcall: a meta that was damaged may name no ID at all.
local fields = redis.call('HMGET', KEYS[2], 'last', 'watchers')
local meta = fields[1]
if redis.call('XLEN', KEYS[1]) ~= new - 1
    or (meta and meta ~= last and #redis.pcall('XRANGE', KEYS[1], meta, meta) == 0) then
  return {'broken'}
end

local clock = redis.call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
if tail then
  for i = 1, #tail[2], 2 do
    if tail[2][i] == 't' then now = math.max(now, tonumber(tail[2][i + 1])) end
  end
end
if now < tonumber(ARGV[6]) then
  return {'early', string.format('%.0f', now)}
end
local time = string.format('%.0f', now)

if ARGV[5] ~= '' then
  redis.call('XADD', KEYS[1], ARGV[2], 't', time, 'e', ARGV[3], 's', ARGV[5])
else
  redis.call('XADD', KEYS[1], ARGV[2], 't', time, 'e', ARGV[3])
end
redis.pcall('HSET', KEYS[2], 'last', ARGV[2], 'time', time, 'head', ARGV[4])
redis.pcall('PUBLISH', ARGV[7], 'e ' .. ARGV[2] .. ' ' .. time .. ' ' .. ARGV[3])
return {'ok', time, fields[2] or ''}
