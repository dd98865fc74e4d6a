-- The tables of the store, as a new file gets them. A change of this file needs a step
-- in upgrades (schema.go), so that existing files get it too. Times are in Unix
-- milliseconds by the store's clock. Rows whose column expires is not after the clock
-- do not exist for readers; the sweep removes them later.

-- Engine ----------------------------------------------------------------------------

-- The latest time that the store's clock is known to have shown: it must not go back,
-- also if the system's clock does while the server is stopped. It has one row.
CREATE TABLE clock (
    one  INTEGER PRIMARY KEY CHECK (one = 1),
    time INTEGER NOT NULL
) STRICT;
INSERT INTO clock VALUES (1, 0);

-- Games -----------------------------------------------------------------------------

-- The head of each game: what lists show of it, as of its last entry. A game in
-- quarantine has a version that no log reaches.
CREATE TABLE games (
    game    INTEGER PRIMARY KEY, -- short for the id in all other tables
    id      TEXT    NOT NULL UNIQUE,
    version INTEGER NOT NULL,
    digest  INTEGER NOT NULL,    -- the 64 bits of an unsigned number
    time    INTEGER NOT NULL,
    head    BLOB    NOT NULL,
    expires INTEGER
) STRICT;
CREATE INDEX games_expires ON games (expires) WHERE expires IS NOT NULL;

-- The logs of all games.
CREATE TABLE entries (
    game    INTEGER NOT NULL,
    version INTEGER NOT NULL,
    digest  INTEGER NOT NULL,
    time    INTEGER NOT NULL,
    raw     BLOB    NOT NULL,
    seed    BLOB,                -- of the game, with the first entry only
    PRIMARY KEY (game, version)
) STRICT, WITHOUT ROWID;
