-- Records a server's heartbeat, and detects outages, rollbacks and missing servers.
--
-- KEYS[1]  heartbeats:{beat}, a hash: server → 'at since' or 'at since mark': its
--          last heartbeat and its first in Unix milliseconds; the mark is 'left'
--          if it shut down cleanly, or 'missing' if it was reported missing
-- KEYS[2]  outages:{beat}, a sorted set: 'from to' by to, in Unix milliseconds
-- KEYS[3]  rewound:{beat}, a hash about the last rollback: at (when it was detected),
--          from (a time before the copy that Redis now holds was made, 0 if unknown),
--          before (a later time, whose data has been lost) and swept (the at of the
--          last rollback that was resolved)
-- ARGV[1]  the server
-- ARGV[2]  its last acknowledged heartbeat, 0 before the first
-- ARGV[3]  its first acknowledged heartbeat, 0 before that
-- ARGV[4]  1 if Redis lost a log entry that was acknowledged after ARGV[2], else 0
-- ARGV[5]  how many milliseconds without a heartbeat make a server missing
-- ARGV[6]  how many milliseconds without a heartbeat or an append make an outage
-- ARGV[7]  how many milliseconds outages and servers are kept
-- ARGV[8]  the maximum number of servers to keep
-- ARGV[9]  n, followed by n pairs 'from' and 'to': the periods since ARGV[2] in
--          which this server's appends succeeded, in order. After them come the
--          other servers that were stored at ARGV[2]: server and 'at since'
--
-- Reply: {now, outage, at, since, rollback, missing, run, then at, from, before
-- and swept of KEYS[3], then KEYS[1]}: the time in Unix milliseconds; the length in
-- milliseconds of the outage that ends now; the stored heartbeat; 1 if this server
-- is the first to detect a rollback, else 0; the number of servers that have become
-- missing; and the ID of the Redis process, '' if unknown.
--
-- Invariant: a server's at decreases only if all data in Redis is rolled back, and
-- that server then detects the rollback. No outage in the set covers an append that
-- its server reported.

local clock = redis.call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
local own, acknowledged, since = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
local missing_after, outage_after, kept = tonumber(ARGV[5]), tonumber(ARGV[6]), tonumber(ARGV[7])
local function text(n) return string.format('%.0f', n) end

local servers = redis.call('HGETALL', KEYS[1])
local newest, mine, missing, oldest, oldest_at = 0, nil, 0, nil, now
for i = 1, #servers, 2 do
  local id, value = servers[i], servers[i + 1]
  local at = tonumber(string.match(value, '^%d+'))
  newest = math.max(newest, at)
  if id == own then
    mine = at
  else
    if at < oldest_at then oldest, oldest_at = id, at end
    if now - at > missing_after and string.find(value, '^%d+ %d+$') then
      redis.call('HSET', KEYS[1], id, value .. ' missing')
      missing = missing + 1
    end
  end
end
if oldest and (now - oldest_at > kept or #servers / 2 > tonumber(ARGV[8])) then
  redis.call('HDEL', KEYS[1], oldest)
end

local spans, argument = {}, 10
for _ = 1, tonumber(ARGV[9]) do
  spans[#spans + 1] = {tonumber(ARGV[argument]), tonumber(ARGV[argument + 1])}
  argument = argument + 2
end

local rollback = 0
if ARGV[4] == '1' or acknowledged > (mine or 0) then
  local from = ARGV[4] == '1' and acknowledged or mine or 0
  local known = redis.call('HMGET', KEYS[3], 'at', 'from', 'before')
  if tonumber(known[1] or 0) > acknowledged then -- another server has detected the same one
    redis.call('HSET', KEYS[3], 'from', text(math.max(from, tonumber(known[2]))),
      'before', text(math.max(acknowledged, tonumber(known[3]))))
  else
    rollback = 1
    redis.call('HSET', KEYS[3], 'at', text(now), 'from', text(from),
      'before', text(acknowledged))
  end
  -- Servers that started after the copy was made are missing from it.
  for i = argument, #ARGV, 2 do redis.call('HSETNX', KEYS[1], ARGV[i], ARGV[i + 1]) end
end
if since == 0 then since = now end
local at = math.max(now, mine or 0)
redis.call('HSET', KEYS[1], own, text(at) .. ' ' .. text(since))

-- record stores the outages between two times and returns their total length.
local function record(from, to)
  local total = 0
  local function piece(a, b)
    if b - a <= outage_after then return end
    redis.call('ZADD', KEYS[2], text(b), text(a) .. ' ' .. text(b))
    total = total + b - a
  end
  for _, span in ipairs(spans) do
    if span[2] > from and span[1] < to then
      piece(from, span[1])
      from = span[2]
    end
  end
  piece(from, to)
  return total
end
if #spans > 0 then
  for _, outage in ipairs(redis.call('ZRANGEBYSCORE', KEYS[2], text(spans[1][1]), '+inf')) do
    local from, to = string.match(outage, '^(%d+) (%d+)$')
    redis.call('ZREM', KEYS[2], outage)
    record(tonumber(from), tonumber(to))
  end
end
local outage = 0
if newest > 0 and now - newest > outage_after then
  outage = record(newest, now)
  redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', text(now - kept))
end

-- Use pcall because the servers' Redis user may lack permission to call INFO.
local info = redis.pcall('INFO', 'server')
local run = type(info) == 'string' and string.match(info, 'run_id:(%w+)') or ''
local reply = {text(now), text(outage), text(at), text(since), text(rollback), text(missing), run}
for _, field in ipairs({'at', 'from', 'before', 'swept'}) do
  reply[#reply + 1] = redis.call('HGET', KEYS[3], field) or '0'
end
for _, word in ipairs(redis.call('HGETALL', KEYS[1])) do reply[#reply + 1] = word end
return reply
