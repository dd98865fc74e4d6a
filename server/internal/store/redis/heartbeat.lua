-- Records a server's heartbeat, and detects outages, a rollback and missing servers.
--
-- KEYS[1]  heartbeats:{beat}, a hash: server → 'at at' or 'at at mark': its last
--          heartbeat in Unix milliseconds, twice because earlier versions stored two
--          times; the mark is 'left' if it shut down cleanly, or 'missing' if it was
--          reported missing
-- KEYS[2]  outages:{beat}, a sorted set: 'from to' by to, in Unix milliseconds
-- ARGV[1]  the server
-- ARGV[2]  its last acknowledged heartbeat, 0 before the first
-- ARGV[3]  how many milliseconds without a heartbeat make a server missing
-- ARGV[4]  how many milliseconds without a heartbeat or an append make an outage
-- ARGV[5]  how many milliseconds outages and servers are kept
-- ARGV[6]  the maximum number of servers to keep
-- ARGV[7…] pairs 'from' and 'to': the periods since ARGV[2] in which this server's
--          appends succeeded, in order
--
-- Reply: {now, outage, at, rollback, missing, run}: the time in Unix milliseconds;
-- the length in milliseconds of the outage that ends now; the stored heartbeat; 1
-- if Redis went back in time, else 0; the number of servers that have become missing;
-- and the ID of the Redis process, '' if unknown.
--
-- Invariant: a server's at decreases only if all data in Redis is rolled back. That
-- server's heartbeats then change nothing until it sends one with ARGV[2] = 0, so it
-- detects the rollback even if a reply is lost. No outage in the set covers an append
-- that its server reported.

local clock = redis.call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
local own, acknowledged = ARGV[1], tonumber(ARGV[2])
local missing_after, outage_after, kept = tonumber(ARGV[3]), tonumber(ARGV[4]), tonumber(ARGV[5])
local function text(n) return string.format('%.0f', n) end

-- Use pcall because the servers' Redis user may lack permission to call INFO.
local info = redis.pcall('INFO', 'server')
local run = type(info) == 'string' and string.match(info, 'run_id:(%w+)') or ''

local mine = tonumber(string.match(redis.call('HGET', KEYS[1], own) or '', '^%d+') or 0)
if acknowledged > mine then return {text(now), '0', text(mine), '1', '0', run} end

local servers = redis.call('HGETALL', KEYS[1])
local newest, missing, oldest, oldest_at = 0, 0, nil, now
for i = 1, #servers, 2 do
  local id, value = servers[i], servers[i + 1]
  local at = tonumber(string.match(value, '^%d+'))
  newest = math.max(newest, at)
  if id ~= own then
    if at < oldest_at then oldest, oldest_at = id, at end
    if now - at > missing_after and string.find(value, '^%d+ %d+$') then
      redis.call('HSET', KEYS[1], id, value .. ' missing')
      missing = missing + 1
    end
  end
end
if oldest and (now - oldest_at > kept or #servers / 2 > tonumber(ARGV[6])) then
  redis.call('HDEL', KEYS[1], oldest)
end

local spans = {}
for i = 7, #ARGV, 2 do spans[#spans + 1] = {tonumber(ARGV[i]), tonumber(ARGV[i + 1])} end

local at = math.max(now, mine)
redis.call('HSET', KEYS[1], own, text(at) .. ' ' .. text(at))

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

return {text(now), text(outage), text(at), '0', text(missing), run}
