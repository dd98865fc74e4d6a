-- Records a server's heartbeat, and detects an outage and a rollback.
--
-- KEYS[1]  heartbeats:{beat}, a hash: server → 'at seen' or 'at seen mark': its last
--          heartbeat in Unix milliseconds, by a clock that does not go back and by that
--          of Redis; the mark is 'left' if it shut down cleanly, or, by earlier
--          versions, 'missing ...'
-- KEYS[2]  outages:{beat}, a sorted set: 'from to' by to, in Unix milliseconds. It
--          contains only the last outage; earlier versions stored several
-- ARGV[1]  the server
-- ARGV[2]  its last acknowledged heartbeat, 0 before the first
-- ARGV[3]  how many milliseconds without a heartbeat make an outage
-- ARGV[4]  how many milliseconds after the last outage another one continues it
-- ARGV[5]  how many milliseconds servers are kept
-- ARGV[6]  the maximum number of servers to keep
-- ARGV[7]  1 if the server shuts down cleanly, else 0
--
-- Reply: {now, from, to, at, rollback, run}: the time in Unix milliseconds; the last
-- outage, or zeros; the stored heartbeat; 1 if Redis went back in time, else 0; and
-- the ID of the Redis process, '' if unknown.
--
-- Invariant: a server's at decreases only if all data in Redis is rolled back. That
-- server's heartbeats then change nothing until it sends one with ARGV[2] = 0, so it
-- detects the rollback even if a reply is lost.

local clock = redis.call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
local own, acknowledged = ARGV[1], tonumber(ARGV[2])
local outage_after, joins, kept = tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5])
local function text(n) return string.format('%.0f', n) end

-- Use pcall because the servers' Redis user may lack permission to call INFO.
local info = redis.pcall('INFO', 'server')
local run = type(info) == 'string' and string.match(info, 'run_id:(%w+)') or ''

local mine = tonumber(string.match(redis.call('HGET', KEYS[1], own) or '', '^%d+') or 0)
if acknowledged > mine then return {text(now), '0', '0', text(mine), '1', run} end

local servers = redis.call('HGETALL', KEYS[1])
local newest, oldest, oldest_at = 0, nil, now
local beat = math.max(now, mine)
for i = 1, #servers, 2 do
  local id, at, seen, mark = servers[i], string.match(servers[i + 1], '^(%d+) (%d+)(.*)$')
  if tonumber(seen) > now then -- The clock was set back: count from now, or a dead server would hide outages.
    seen = text(now)
    redis.call('HSET', KEYS[1], id, at .. ' ' .. seen .. mark)
  end
  newest = math.max(newest, tonumber(seen))
  if id ~= own and tonumber(seen) < oldest_at then oldest, oldest_at = id, tonumber(seen) end
end
if oldest and (now - oldest_at > kept or #servers / 2 > tonumber(ARGV[6])) then
  redis.call('HDEL', KEYS[1], oldest)
end

redis.call('HSET', KEYS[1], own, text(beat) .. ' ' .. text(now) .. (ARGV[7] == '1' and ' left' or ''))

local from, to = string.match(redis.call('ZRANGE', KEYS[2], -1, -1)[1] or '0 0', '^(%d+) (%d+)$')
if tonumber(to) > now then -- The clock was set back: it would credit time to come.
  redis.call('DEL', KEYS[2])
  from, to = '0', '0'
end
if newest > 0 and now - newest > outage_after then
  if newest - tonumber(to) > joins then from = text(newest) end
  to = text(now)
  redis.call('DEL', KEYS[2])
  redis.call('ZADD', KEYS[2], to, from .. ' ' .. to)
end
return {text(now), from, to, text(beat), '0', run}
