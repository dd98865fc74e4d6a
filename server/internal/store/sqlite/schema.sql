-- The tables of a new file. A change to this file needs a step in upgrades
-- (schema.go), so that it also reaches existing files. Times are in Unix milliseconds
-- by the store's clock. If expires is not later than the clock, readers ignore the
-- row, and the sweep removes it later.

-- Engine ----------------------------------------------------------------------------

-- The latest time that the store's clock is known to have returned. The clock must
-- not go back, even if the system's clock does while the server is stopped. The table
-- has one row.
CREATE TABLE clock (
    one  INTEGER PRIMARY KEY CHECK (one = 1),
    time INTEGER NOT NULL
) STRICT;
INSERT INTO clock VALUES (1, 0);

-- Queue -----------------------------------------------------------------------------

-- The job of each game that has one. A lease is a time in the future, like that of a
-- scheduled job.
CREATE TABLE jobs (
    game TEXT    NOT NULL PRIMARY KEY, -- may be a game without entries
    due  INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX jobs_due ON jobs (due);

-- Heartbeats ------------------------------------------------------------------------

-- The last heartbeat of each server. Only one server runs at a time, but earlier ones
-- are listed as well.
CREATE TABLE servers (
    id      TEXT    NOT NULL PRIMARY KEY,
    time    INTEGER NOT NULL,
    stopped INTEGER NOT NULL, -- 1 if it shut down cleanly
    missing INTEGER NOT NULL  -- always 0; earlier versions set it
) STRICT, WITHOUT ROWID;

-- The last outage. Only files that an earlier version wrote have several rows.
CREATE TABLE outages (
    until INTEGER NOT NULL,
    since INTEGER NOT NULL,
    PRIMARY KEY (until, since)
) STRICT, WITHOUT ROWID;

-- Earlier versions store here which server does a piece of work.
CREATE TABLE claims (
    work    TEXT    NOT NULL PRIMARY KEY,
    expires INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Games -----------------------------------------------------------------------------

-- The head of each game: what lists show about it, as of its last entry. A game in
-- quarantine has a version that no log reaches.
CREATE TABLE games (
    game    INTEGER PRIMARY KEY AUTOINCREMENT, -- replaces the id in entries
    id      TEXT    NOT NULL UNIQUE,
    version INTEGER NOT NULL,
    digest  INTEGER NOT NULL,    -- unsigned 64 bits
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
    seed    BLOB,                -- only in the first entry
    PRIMARY KEY (game, version)
) STRICT, WITHOUT ROWID;

-- Accounts --------------------------------------------------------------------------

-- The players' accounts. An expired account is removed, but its names stay taken. renamed is when it
-- got its present name, NULL if that is its first.
CREATE TABLE accounts (
    id      TEXT    PRIMARY KEY,
    name    TEXT    NOT NULL, -- as the player wrote it
    secret  TEXT    NOT NULL, -- digest of the secret
    bot     INTEGER NOT NULL, -- 1 for a bot, else 0
    created INTEGER NOT NULL,
    expires INTEGER,
    renamed INTEGER) STRICT, WITHOUT ROWID;
CREATE INDEX accounts_expires ON accounts (expires);

-- The account that holds each name and those that look like it, in folded form; rows of names from
-- before names were folded, in lower case, are unused. An account that was renamed holds several.
-- Names are never released.
CREATE TABLE names (
    name    TEXT PRIMARY KEY,
    account TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- The SSH keys that are linked to accounts. They are removed with their account.
CREATE TABLE ssh_keys (
    fingerprint TEXT    PRIMARY KEY,
    player      TEXT    NOT NULL,
    comment     TEXT    NOT NULL,
    added       INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX ssh_keys_player ON ssh_keys (player);

-- The players' profiles. They are removed with their account.
CREATE TABLE profiles (
    player   TEXT    PRIMARY KEY,
    revision INTEGER NOT NULL,
    encoded  BLOB    NOT NULL
) STRICT, WITHOUT ROWID;

-- The sessions of accounts, and the link of each account that opens one. session is the one that the
-- link has opened, or empty.
CREATE TABLE sessions (
    player  TEXT    NOT NULL,
    id      TEXT    NOT NULL,
    comment TEXT    NOT NULL,
    opened  INTEGER NOT NULL,
    expires INTEGER,
    PRIMARY KEY (player, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX sessions_expires ON sessions (expires) WHERE expires IS NOT NULL;
CREATE TABLE session_links (
    player  TEXT    NOT NULL PRIMARY KEY,
    link    TEXT    NOT NULL UNIQUE,
    session TEXT    NOT NULL,
    expires INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX session_links_expires ON session_links (expires);

-- The service credentials of SSH hosts.
CREATE TABLE ssh_credentials (
    name    TEXT    PRIMARY KEY,
    digest  TEXT    NOT NULL,
    created INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Secrets ---------------------------------------------------------------------------

-- Secrets that all users of the file share, such as the key of page tokens.
CREATE TABLE secrets (
    name   TEXT PRIMARY KEY,
    secret BLOB NOT NULL
) STRICT, WITHOUT ROWID;

-- Lists -----------------------------------------------------------------------------

-- What lists show about each game. A move updates the row and one index for each
-- order. Rows of games of similar age are adjacent.
CREATE TABLE listings (
    listing INTEGER PRIMARY KEY,
    id      TEXT    NOT NULL UNIQUE,
    variant TEXT    NOT NULL,
    status  INTEGER NOT NULL,
    private INTEGER NOT NULL,
    players TEXT    NOT NULL, -- ids, concatenated
    updated INTEGER NOT NULL,
    score   INTEGER NOT NULL,
    watched INTEGER NOT NULL  -- rank by spectators, then by score
) STRICT;
-- A list of all variants or statuses merges the rows of each one.
CREATE INDEX listings_recent ON listings (private, variant, status, updated, id);
CREATE INDEX listings_score ON listings (variant, score, id) WHERE status = 2 AND private = 0;
CREATE INDEX listings_watched ON listings (variant, watched, id) WHERE status = 2 AND private = 0;

-- The games of each player. The times of unfinished games are in listings, so that a move
-- does not update these rows.
CREATE TABLE player_listings (
    id       TEXT    NOT NULL,
    player   TEXT    NOT NULL,
    finished INTEGER,          -- time of the last event if the game has ended
    PRIMARY KEY (id, player)
) STRICT, WITHOUT ROWID;
CREATE INDEX player_listings_recent ON player_listings (player, finished);

-- Boards ----------------------------------------------------------------------------

-- The leaderboards. The name is the time window of the board; total is the number of its
-- entries.
CREATE TABLE boards (
    board   INTEGER PRIMARY KEY,
    variant TEXT    NOT NULL,
    name    TEXT    NOT NULL,
    expires INTEGER,
    total   INTEGER NOT NULL,
    UNIQUE (variant, name)
) STRICT;

-- The entries of boards, at most one for each player and board. A board is ordered by
-- score and member, both descending.
CREATE TABLE scores (
    board  INTEGER NOT NULL,
    player TEXT    NOT NULL,
    score  INTEGER NOT NULL,
    member TEXT    NOT NULL,
    PRIMARY KEY (board, player)
) STRICT, WITHOUT ROWID;
CREATE INDEX scores_rank ON scores (board, score, member);

-- The number of entries of a board from a score and member up to the start of the next
-- range. The lowest range starts below all entries.
CREATE TABLE score_ranges (
    board   INTEGER NOT NULL,
    score   INTEGER NOT NULL,
    member  TEXT    NOT NULL,
    entries INTEGER NOT NULL,
    PRIMARY KEY (board, score, member)
) STRICT, WITHOUT ROWID;

-- The players who are hidden from all boards.
CREATE TABLE hidden (player TEXT PRIMARY KEY) STRICT, WITHOUT ROWID;

-- Challenges ------------------------------------------------------------------------

-- The challenges; listed is 1 if a challenge is in lists. Their attempts are stored as
-- games, and their standings as boards.
CREATE TABLE challenges (
    id       TEXT    NOT NULL PRIMARY KEY,
    revision INTEGER NOT NULL,
    kind     INTEGER NOT NULL,
    listed   INTEGER NOT NULL,
    created  INTEGER NOT NULL,
    expires  INTEGER NOT NULL,
    encoded  BLOB    NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX challenges_recent ON challenges (created, id) WHERE listed = 1;
CREATE INDEX challenges_kind ON challenges (kind, created, id) WHERE listed = 1;
CREATE INDEX challenges_expires ON challenges (expires);
