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

-- Queue -----------------------------------------------------------------------------

-- The job of each game that has one. A lease is a time to come, like that of a
-- scheduled job.
CREATE TABLE jobs (
    game TEXT    NOT NULL PRIMARY KEY, -- also of a game that has no entry yet
    due  INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX jobs_due ON jobs (due);

-- Heartbeats ------------------------------------------------------------------------

-- The last and the first heartbeat of each server. One runs at a time, but those
-- before it are here, too.
CREATE TABLE servers (
    id      TEXT    NOT NULL PRIMARY KEY,
    time    INTEGER NOT NULL,
    since   INTEGER NOT NULL,
    stopped INTEGER NOT NULL, -- 1 if it stopped in order
    missing INTEGER NOT NULL  -- 1 if it was reported as missing
) STRICT, WITHOUT ROWID;

-- The times in which nothing could be appended, not after each other.
CREATE TABLE outages (
    until INTEGER NOT NULL,
    since INTEGER NOT NULL,
    PRIMARY KEY (until, since)
) STRICT, WITHOUT ROWID;

-- The last rollback, see store.Rollback. It has one row at most.
CREATE TABLE rollback (
    one      INTEGER PRIMARY KEY CHECK (one = 1),
    time     INTEGER NOT NULL,
    copied   INTEGER,          -- NULL if unknown
    before   INTEGER,          -- NULL if unknown
    resolved INTEGER NOT NULL  -- 0 or 1
) STRICT;

-- The games that were vouched for after a rollback, and the servers that attested.
CREATE TABLE vouched (
    rollback INTEGER NOT NULL,
    game     TEXT    NOT NULL,
    expires  INTEGER NOT NULL,
    PRIMARY KEY (rollback, game)
) STRICT, WITHOUT ROWID;
CREATE TABLE attested (
    rollback INTEGER NOT NULL,
    server   TEXT    NOT NULL,
    expires  INTEGER NOT NULL,
    PRIMARY KEY (rollback, server)
) STRICT, WITHOUT ROWID;

-- The pieces of work that a server has to itself.
CREATE TABLE claims (
    work    TEXT    NOT NULL PRIMARY KEY,
    expires INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Games -----------------------------------------------------------------------------

-- The head of each game: what lists show of it, as of its last entry. A game in
-- quarantine has a version that no log reaches.
CREATE TABLE games (
    game    INTEGER PRIMARY KEY AUTOINCREMENT, -- short for the id; see places.go
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

-- Accounts --------------------------------------------------------------------------

-- The players' accounts. One that expires is removed, and its name stays taken.
CREATE TABLE accounts (
    id      TEXT    PRIMARY KEY,
    name    TEXT    NOT NULL, -- as its owner wrote it
    secret  TEXT    NOT NULL, -- the digest of it
    bot     INTEGER NOT NULL, -- 1 for a bot, else 0
    created INTEGER NOT NULL,
    expires INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX accounts_expires ON accounts (expires);

-- Who holds each name, in lower case. Names are never free again.
CREATE TABLE names (
    name    TEXT PRIMARY KEY,
    account TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- The games that count as open for each player.
CREATE TABLE open_games (
    player  TEXT    NOT NULL,
    game    TEXT    NOT NULL,
    since   INTEGER NOT NULL,
    expires INTEGER,
    PRIMARY KEY (player, game)
) STRICT, WITHOUT ROWID;
CREATE INDEX open_games_expires ON open_games (expires) WHERE expires IS NOT NULL;

-- The SSH keys that are linked to accounts. They are removed with their account.
CREATE TABLE ssh_keys (
    fingerprint TEXT    PRIMARY KEY,
    player      TEXT    NOT NULL,
    comment     TEXT    NOT NULL,
    added       INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX ssh_keys_player ON ssh_keys (player);

-- The service credentials of SSH hosts.
CREATE TABLE ssh_credentials (
    name    TEXT    PRIMARY KEY,
    digest  TEXT    NOT NULL,
    created INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Secrets ---------------------------------------------------------------------------

-- What all users of the file have to agree on, such as the key of page tokens.
CREATE TABLE secrets (
    name   TEXT PRIMARY KEY,
    secret BLOB NOT NULL
) STRICT, WITHOUT ROWID;

-- Lists -----------------------------------------------------------------------------

-- What lists show of each game. A move touches the row, which is beside those of games
-- that are as old, and an index for each order.
CREATE TABLE listings (
    listing INTEGER PRIMARY KEY,
    id      TEXT    NOT NULL UNIQUE,
    variant TEXT    NOT NULL,
    status  INTEGER NOT NULL,
    private INTEGER NOT NULL,
    players TEXT    NOT NULL, -- ids, one after another
    updated INTEGER NOT NULL,
    score   INTEGER NOT NULL,
    watched INTEGER NOT NULL  -- rank by watchers, then by score
) STRICT;
-- A list of any variant, or any status, merges those of each.
CREATE INDEX listings_recent ON listings (private, variant, status, updated, id);
CREATE INDEX listings_score ON listings (variant, score, id) WHERE status = 2 AND private = 0;
CREATE INDEX listings_watched ON listings (variant, watched, id) WHERE status = 2 AND private = 0;

-- The games of each player. Those that are not over have the time in listings, so that
-- a move does not touch them.
CREATE TABLE player_listings (
    id       TEXT    NOT NULL,
    player   TEXT    NOT NULL,
    finished INTEGER,          -- time of the last event, if the game is over
    PRIMARY KEY (id, player)
) STRICT, WITHOUT ROWID;
CREATE INDEX player_listings_recent ON player_listings (player, finished);

-- Boards ----------------------------------------------------------------------------

-- The leaderboards. The name is the window that a board covers; total is how many
-- entries it has.
CREATE TABLE boards (
    board   INTEGER PRIMARY KEY,
    variant TEXT    NOT NULL,
    name    TEXT    NOT NULL,
    expires INTEGER,
    total   INTEGER NOT NULL,
    UNIQUE (variant, name)
) STRICT;

-- The entries of boards, one of a player on each. A board is in descending order of
-- score and member.
CREATE TABLE scores (
    board  INTEGER NOT NULL,
    player TEXT    NOT NULL,
    score  INTEGER NOT NULL,
    member TEXT    NOT NULL,
    PRIMARY KEY (board, player)
) STRICT, WITHOUT ROWID;
CREATE INDEX scores_rank ON scores (board, score, member);

-- How many entries a board has from a score and member up to those of its next range.
-- The lowest range begins below all entries.
CREATE TABLE score_ranges (
    board   INTEGER NOT NULL,
    score   INTEGER NOT NULL,
    member  TEXT    NOT NULL,
    entries INTEGER NOT NULL,
    PRIMARY KEY (board, score, member)
) STRICT, WITHOUT ROWID;

-- The players who are on no board.
CREATE TABLE hidden (player TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;
