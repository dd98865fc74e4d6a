-- Reports whether an append would be written, without writing anything.
--
-- KEYS[1]  the log of a game that does not exist
--
-- Reply: false. An error is the one that an append would meet, such as those of a
-- Redis that is a replica, is out of memory or cannot write to its disk.
--
-- Invariant: nothing is written. NOMKSTREAM keeps XADD from creating the stream,
-- and Redis checks all that it checks before an XADD that writes.

return redis.call('XADD', KEYS[1], 'NOMKSTREAM', '1-1', 't', '0')
