package sqlite

import (
	_ "embed" // schema
	"errors"
	"fmt"

	sqlite3 "zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"
)

//go:embed schema.sql
var schema string

// upgrades are the scripts that bring an older file to schema, each to the next
// version. PRAGMA user_version of a file is one more than how many it has got.
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
}

// applicationID marks a file as a store of Gridstand, for file(1) and against mistakes.
const applicationID = 0x47726473 // "Grds"

// upgrade gives a new file its tables and an older one what it lacks, by the upgrades that
// it has not got, all or none of them. The error says if the file is of a newer program,
// or not a store.
func upgrade(c *sqlite3.Conn, upgrades []string) (err error) {
	end, err := sqlitex.ImmediateTransaction(c)
	if err != nil {
		return err
	}
	defer end(&err)
	version, err := number(c, "PRAGMA user_version")
	if err != nil {
		return err
	}
	application, err := number(c, "PRAGMA application_id")
	if err != nil {
		return err
	}
	tables, err := number(c, "SELECT count(*) FROM sqlite_schema")
	if err != nil {
		return err
	}
	latest := int64(1 + len(upgrades))
	switch {
	case version == 0 && tables == 0:
		if err := sqlitex.ExecuteScript(c, schema, nil); err != nil {
			return err
		}
		if err := sqlitex.ExecuteTransient(c, fmt.Sprintf("PRAGMA application_id = %d", applicationID), nil); err != nil {
			return err
		}
	case application != applicationID:
		return errors.New("it is a database of another program")
	case version > latest:
		return fmt.Errorf("it was written by a newer version of this program: its schema is %d, and %d is the latest known here", version, latest)
	case version == latest:
		return nil
	default:
		for _, step := range upgrades[version-1:] {
			if err := sqlitex.ExecuteScript(c, step, nil); err != nil {
				return fmt.Errorf("upgrading the schema: %w", err)
			}
		}
	}
	return sqlitex.ExecuteTransient(c, fmt.Sprintf("PRAGMA user_version = %d", latest), nil)
}

// number returns the result of a query for one number.
func number(c *sqlite3.Conn, query string) (n int64, err error) {
	err = sqlitex.ExecuteTransient(c, query, &sqlitex.ExecOptions{ResultFunc: func(s *sqlite3.Stmt) error {
		n = s.ColumnInt64(0)
		return nil
	}})
	return n, err
}
