package sqlite

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	sqlite3 "zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"

	"github.com/gridstand/gridstand/server/internal/store"
)

// Ensure that upgrading a file of an earlier version yields the same tables as in a new
// file, and preserves the data.
func TestUpgrade(t *testing.T) {
	t.Parallel()
	upgradeFrom(t, "DROP TABLE ssh_keys; DROP TABLE ssh_credentials; DROP TABLE challenges; PRAGMA user_version = 1")
	upgradeFrom(t, "DROP TABLE challenges; PRAGMA user_version = 2")
	upgradeFrom(t, "PRAGMA user_version = 3")
	upgradeFrom(t, "PRAGMA user_version = 4")
	upgradeFrom(t, upgrades[3]+"; PRAGMA user_version = 5")
	upgradeFrom(t, upgrades[3]+";"+upgrades[4]+"; PRAGMA user_version = 6")
	upgradeFrom(t, upgrades[3]+";"+upgrades[4]+";"+upgrades[5]+"; PRAGMA user_version = 7")
	upgradeFrom(t, strings.Join(upgrades[3:7], ";")+"; PRAGMA user_version = 8")
}

// asBefore adds what versions 5 and 9 dropped, and drops what later versions than 4 added.
const asBefore = `DROP TABLE sessions; DROP TABLE session_links; DROP TABLE profiles; ALTER TABLE accounts DROP COLUMN renamed;
	CREATE TABLE open_games (n); CREATE TABLE rollback (n); CREATE TABLE vouched (n); CREATE TABLE attested (n);
	ALTER TABLE servers ADD COLUMN since INTEGER NOT NULL DEFAULT 0;`

// execute runs a script on the file of a store that is closed.
func execute(t *testing.T, path, script string) {
	t.Helper()
	c, err := sqlite3.OpenConn(path)
	require.NoError(t, err)
	require.NoError(t, sqlitex.ExecuteScript(c, script, nil))
	require.NoError(t, c.Close())
}

// Ensure that no account can take a name that looks like one from before names were folded, and that
// the account whose name is in folded form has those that look like it.
func TestUpgrade_FoldsNames(t *testing.T) {
	t.Parallel()
	path := newStore(t, "ann", false)
	execute(t, path, asBefore+`INSERT INTO names VALUES ('b.0-i', 'a'), ('zed.', 'b'), ('z ed', 'c'), ('zed', 'd');
		PRAGMA user_version = 3`)
	upgraded := openStore(t, Options{Path: path})
	for name, want := range map[string]string{"B.0-i": "a", "Bol": "a", "Zed.": "d", "Z ed": "d", "Zed": "d", "Z-ed": "d"} {
		holder, err := upgraded.Accounts.Holder(t.Context(), name)
		require.NoError(t, err)
		assert.Equal(t, want, holder, name)
		_, err = upgraded.Accounts.Create(t.Context(), store.Account{ID: "new", Name: name}, 0)
		require.ErrorIs(t, err, store.ErrNameHeld)
	}
}

// Ensure that a tool does not upgrade a file, because a server of an earlier version may be using it,
// and that a restored backup is upgraded, because operators use it before a server does.
func TestUpgrade_Beside(t *testing.T) {
	t.Parallel()
	path := newStore(t, "ann", false)
	execute(t, path, asBefore+"PRAGMA user_version = 4")
	for range 2 {
		_, err := Open(Options{Path: path, Beside: true})
		require.ErrorContains(t, err, "it was written by an earlier version of this program")
	}
	backup, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NoError(t, Restore(path, true, func(partial string) error {
		_, err := RestoreBackup(partial, bytes.NewReader(backup))
		return err
	}))
	tool := openDB(t, Options{Path: path, Beside: true})
	assert.Equal(t, []int{1 + len(upgrades)}, numbers(t, tool, "PRAGMA user_version"))
}

// upgradeFrom uses the given script to turn a new file into one of an earlier version,
// and opens it.
func upgradeFrom(t *testing.T, script string) {
	t.Helper()
	fresh, old := openDB(t, Options{Path: filepath.Join(t.TempDir(), "new.db")}), filepath.Join(t.TempDir(), "old.db")
	s := mustOpen(t, Options{Path: old})
	require.NoError(t, s.Boards.Hide(t.Context(), "player"))
	_, err := s.Accounts.Create(t.Context(), store.Account{ID: "a", Name: "Ann"}, 0)
	require.NoError(t, err)
	require.NoError(t, s.Boards.Record(t.Context(), store.BoardEntry{PlayerID: "a", Member: "a"}, forever))
	play(t, s, "a", 1, 1)
	require.NoError(t, s.Close())

	execute(t, old, asBefore+script)

	upgraded := openDB(t, Options{Path: old})
	assert.Equal(t, tablesOf(t, fresh), tablesOf(t, upgraded))
	for _, table := range []string{"hidden", "accounts", "names", "scores", "games", "entries"} {
		assert.Equal(t, []int{1}, numbers(t, upgraded, "SELECT count(*) FROM "+table), table)
	}
	assert.Equal(t, []int{1 + len(upgrades)}, numbers(t, upgraded, "PRAGMA user_version"))
}

// Ensure that missing upgrades are applied in order, and that none is applied if one of
// them fails.
func TestUpgrade_Steps(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "store.db")
	d := openDB(t, Options{Path: path})
	before := tablesOf(t, d)
	apply := func(steps ...string) error {
		c, err := sqlite3.OpenConn(path)
		require.NoError(t, err)
		defer func() { assert.NoError(t, c.Close()) }()
		return upgrade(c, slices.Concat(upgrades, steps))
	}
	first, second := "CREATE TABLE later (n INTEGER)", "INSERT INTO later VALUES (1); ALTER TABLE later ADD COLUMN m INTEGER"
	require.Error(t, apply(first, "INSERT INTO nowhere VALUES (1)"))
	assert.Equal(t, before, tablesOf(t, d))
	version := func() int { return numbers(t, d, "PRAGMA user_version")[0] }
	assert.Equal(t, 1+len(upgrades), version())
	for range 2 {
		require.NoError(t, apply(first))
		assert.Equal(t, 2+len(upgrades), version())
	}
	require.NoError(t, apply(first, second))
	assert.Equal(t, 3+len(upgrades), version())
	assert.Equal(t, []int{1}, numbers(t, d, "SELECT n FROM later WHERE m IS NULL"))
	require.ErrorContains(t, apply(first), "newer version of this program")
}

// tablesOf returns the definition of each table and index, with normalized white space.
func tablesOf(t *testing.T, d *db) map[string]string {
	t.Helper()
	tables := map[string]string{}
	require.NoError(t, d.read(t.Context(), func(c *sqlite3.Conn) error {
		return query(c, "SELECT name, sql FROM sqlite_schema WHERE sql IS NOT NULL", func(s *sqlite3.Stmt) {
			tables[s.ColumnText(0)] = strings.Join(strings.Fields(s.ColumnText(1)), " ")
		})
	}))
	return tables
}
