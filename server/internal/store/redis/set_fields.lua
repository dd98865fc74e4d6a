-- Writes fields of a hash if one of its fields has the expected value, or if there is no
-- hash.
--
-- KEYS[1]  player:{id}, challenge:{id} or game:{id}:meta
-- ARGV[1]  the field, '' if there must be no hash
-- ARGV[2]  the expected value, '0' also if the field is missing
-- ARGV[3]  the time in Unix milliseconds at which the hash expires, '' to leave it
-- ARGV[4]  and following: the fields to write and their values, in turn
-- Reply    1 if they were written, 0 if the field has another value, -1 if there is a hash
--          that must not exist, or none that must
--
-- Invariant: each change builds on the values that its caller read, so no change is lost.
-- Only a call without a field creates a hash.
local create = ARGV[1] == ''
if (redis.call('EXISTS', KEYS[1]) == 0) ~= create then
  return -1
end
if not create and (redis.call('HGET', KEYS[1], ARGV[1]) or '0') ~= ARGV[2] then
  return 0
end
redis.call('HSET', KEYS[1], unpack(ARGV, 4))
if ARGV[3] ~= '' then
  redis.call('PEXPIREAT', KEYS[1], ARGV[3])
end
return 1
