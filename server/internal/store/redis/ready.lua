-- Reports whether an append would succeed, without writing anything.
--
-- KEYS[1]  the log of a game that does not exist
--
-- Reply: false, or the error that an append would get, for example if Redis is a
-- replica, is out of memory or cannot write to its disk.
--
-- Invariant: nothing is written. NOMKSTREAM keeps XADD from creating the stream,
-- but Redis performs the same checks as for an XADD that writes.

return redis.call('XADD', KEYS[1], 'NOMKSTREAM', '1-1', 't', '0')
