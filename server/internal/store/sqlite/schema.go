package sqlite

import (
	"bytes"
	_ "embed" // schema
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	sqlite3 "zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"

	"github.com/gridstand/gridstand/server/internal/store"
)

//go:embed schema.sql
var schema string

// upgrades holds the scripts that bring older files up to schema, each by one version. A
// file's PRAGMA user_version is the number of applied upgrades plus 1.
var upgrades = []string{
	`CREATE TABLE ssh_keys (
		fingerprint TEXT    PRIMARY KEY,
		player      TEXT    NOT NULL,
		comment     TEXT    NOT NULL,
		added       INTEGER NOT NULL
	) STRICT, WITHOUT ROWID;
	CREATE INDEX ssh_keys_player ON ssh_keys (player);
	CREATE TABLE ssh_credentials (
		name    TEXT    PRIMARY KEY,
		digest  TEXT    NOT NULL,
		created INTEGER NOT NULL
	) STRICT, WITHOUT ROWID;`,
	`CREATE TABLE challenges (
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
	CREATE INDEX challenges_expires ON challenges (expires);`,
	// The folded form of each name (see names.Fold), held by the first of those that look alike.
	`INSERT OR IGNORE INTO names (name, account)
	SELECT replace(replace(replace(replace(replace(replace(replace(
		names.name, ' ', ''), '-', ''), '_', ''), '.', ''), '0', 'o'), '1', 'l'), 'i', 'l'), names.account
	FROM names LEFT JOIN accounts ON accounts.id = names.account ORDER BY accounts.created`,
	// Servers no longer agree on the games that a rollback left intact.
	`DROP TABLE rollback; DROP TABLE vouched; DROP TABLE attested; ALTER TABLE servers DROP COLUMN since`,
	`ALTER TABLE accounts ADD COLUMN renamed INTEGER`,
	`CREATE TABLE profiles (
		player   TEXT    PRIMARY KEY,
		revision INTEGER NOT NULL,
		encoded  BLOB    NOT NULL
	) STRICT, WITHOUT ROWID;`,
	`CREATE TABLE sessions (
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
	CREATE INDEX session_links_expires ON session_links (expires);`,
	// Servers no longer limit the open games of a player.
	`DROP TABLE open_games`,
}

// applicationID marks a file as a Gridstand store. file(1) recognizes it, and it prevents
// other databases from being opened by mistake.
const applicationID = 0x47726473 // "Grds"

// applicationAt is the offset of the application ID in a file.
const applicationAt = 68

// pageSize is the size of a page in bytes.
const pageSize = 4096

var (
	// errForeign means that the file is a database, but not a store.
	errForeign = errors.New("it is the database of another program")
	// errNoTables means that the file is a database without tables.
	errNoTables = errors.New("it has no tables; if a server is creating them, try again")
)

// loggedAt is the offset of the first page in a write-ahead log.
const loggedAt = 56

// look opens the file at path, and returns an error if it has tables and is not a store. It returns
// nil if there is no file. It changes nothing, unlike SQLite.
func look(path string, flag int) (_ *os.File, err error) {
	f, err := os.OpenFile(path, flag, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			_ = f.Close()
		}
	}()
	var page [108]byte // the headers of the file and of its first page
	magic := []byte("SQLite format 3\x00")
	switch n, err := f.ReadAt(page[:], 0); {
	case n == 0 && errors.Is(err, io.EOF):
		return f, nil
	case errors.Is(err, io.EOF) || err == nil && !bytes.HasPrefix(page[:], magic):
		return nil, sqlite3.ResultNotADB.ToError()
	case err != nil:
		return nil, err
	}
	application := binary.BigEndian.Uint32(page[applicationAt:])
	if empty := page[100] == 13 && binary.BigEndian.Uint16(page[103:]) == 0; empty && application == 0 {
		application = applicationID
		// The tables of a new database are only in its log, which begins with the first page.
		if log, err := os.Open(path + walSuffix); err == nil {
			if n, _ := log.ReadAt(page[:], loggedAt); n == len(page) && bytes.HasPrefix(page[:], magic) {
				application = binary.BigEndian.Uint32(page[applicationAt:])
			}
			_ = log.Close()
		}
	}
	if application != applicationID {
		return nil, errForeign
	}
	return f, nil
}

// latestVersion returns the PRAGMA user_version of a file with the given upgrades: the
// version of its tables and, from bit 16, the version of what callers encode, from 0.
// Earlier programs, which do not know the latter, therefore refuse a newer file, too.
func latestVersion(upgrades []string) int64 {
	return int64(1+len(upgrades)) | (store.Format-1)<<formatBits
}

const formatBits = 16

// upgrade creates the tables of a new file, or applies to an older file either all
// missing upgrades or none. It returns an error if the file was written by a newer
// version of the program, or is not a store.
func upgrade(c *sqlite3.Conn, upgrades []string) (err error) {
	end, err := sqlitex.ImmediateTransaction(c)
	if err != nil {
		return err
	}
	defer end(&err)
	latest := latestVersion(upgrades)
	version, err := supported(c, latest)
	if errors.Is(err, errNoTables) {
		if err := sqlitex.ExecuteScript(c, schema, nil); err != nil {
			return err
		}
		return setPragmas(c, fmt.Sprintf("application_id = %d", applicationID), fmt.Sprintf("user_version = %d", latest))
	}
	if err != nil || version == latest {
		return err
	}
	for _, step := range upgrades[version&(1<<formatBits-1)-1:] {
		if err := sqlitex.ExecuteScript(c, step, nil); err != nil {
			return fmt.Errorf("upgrading the schema: %w", err)
		}
	}
	return setPragmas(c, fmt.Sprintf("user_version = %d", latest))
}

// supported returns the version of a file. It returns an error if that is newer than the latest,
// or the file is not a store; errNoTables if it may become one.
func supported(c *sqlite3.Conn, latest int64) (version int64, err error) {
	if version, err = number(c, "PRAGMA user_version"); err != nil {
		return 0, err
	}
	application, err := number(c, "PRAGMA application_id")
	if err != nil {
		return 0, err
	}
	found, err := has(c, "SELECT 1 FROM sqlite_schema")
	const tables = 1<<formatBits - 1
	switch {
	case err != nil:
		return 0, err
	case version == 0 && !found:
		return 0, errNoTables
	case application != applicationID:
		return 0, errForeign
	case version&tables > latest&tables:
		return 0, fmt.Errorf("it was written by a newer version of this program: its schema version is %d, and this program supports up to %d", version&tables, latest&tables)
	}
	return version, store.CheckFormat(int(version>>formatBits) + 1)
}

// requireLatest returns an error unless a file has the latest version: a server of an earlier version
// may be using an older file.
func requireLatest(c *sqlite3.Conn) error {
	version, err := supported(c, latestVersion(upgrades))
	if err == nil && version != latestVersion(upgrades) {
		err = errors.New("it was written by an earlier version of this program: start the server of this version once, or run this command with the version that wrote it")
	}
	return err
}
