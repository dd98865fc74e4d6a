package store

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// stored is the content of a dump that an earlier version of the program may have written: this
// version must be able to read it.
const stored = `{"Dump":1,"Format":1,"Time":"2026-11-26T12:00:00Z"}
{"Secret":{"Name":"page","Secret":"AHM="}}
{"Credential":{"Name":"host","Digest":"cc","Created":"2026-11-26T11:00:00Z"}}
{"Hidden":{"PlayerID":"eve"}}
{"Server":{"ServerID":"s","At":"2026-11-26T11:59:00Z","Left":true}}
{"Account":{"ID":"ann","Name":"Ann","Secret":"aa","Bot":false,"Created":"2026-11-26T11:00:00Z","Expires":"2026-12-26T12:00:00Z"}}
{"Name":{"Name":"ann","AccountID":"ann"}}
{"Key":{"Fingerprint":"SHA256:f","PlayerID":"ann","Comment":"home","Added":"2026-11-26T11:00:00Z"}}
{"Challenge":{"ID":"c","Revision":7,"Encoded":"AQ==","Kind":2,"Listed":true,"Created":"2026-11-26T11:00:00Z","Expires":"2026-12-26T12:00:00Z"}}
{"Log":{"GameID":"g","Entries":[{"ID":"1-18446744073709551615","Time":"2026-11-26T11:00:00.001Z","Raw":"AgM=","Seed":"BA=="},{"ID":"2-9","Time":"2026-11-26T11:00:01Z","Raw":"BQ=="}]}}
{"Head":{"GameID":"g","Last":"2-9","Time":"2026-11-26T11:00:01Z","Encoded":"Bg=="}}
`

const storedEnd = `{"End":{"Games":1,"Entries":2,"Accounts":1,"Challenges":1},"SHA256":"de450fcbf4a9556a1c7c2cf5f9173b41b46dcba6c06d256f59d6cb9efaf55f0d"}
`

func pack(t *testing.T, text string) []byte {
	t.Helper()
	var file bytes.Buffer
	w := gzip.NewWriter(&file)
	_, err := io.WriteString(w, text)
	require.NoError(t, err)
	require.NoError(t, w.Close())
	return file.Bytes()
}

func unpack(t *testing.T, file []byte) string {
	t.Helper()
	r, err := gzip.NewReader(bytes.NewReader(file))
	require.NoError(t, err)
	text, err := io.ReadAll(r)
	require.NoError(t, err)
	return string(text)
}

func read(file []byte, now time.Time) (items []Item, counts Counts, err error) {
	counts, err = ReadDump(context.Background(), bytes.NewReader(file), now, func(_ context.Context, more []Item) error {
		items = append(items, more...)
		return nil
	}, func(Counts) {})
	return items, counts, err
}

// Ensure that the format stays what it is: the fields have the names and types of version 1.
func TestDump_Format(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 26, 12, 0, 0, 0, time.UTC)
	items, counts, err := read(pack(t, stored+storedEnd), at)
	require.NoError(t, err)
	assert.Equal(t, Counts{Games: 1, Entries: 2, Accounts: 1, Challenges: 1}, counts)
	var file bytes.Buffer
	_, err = WriteDump(t.Context(), &file, at, func(_ context.Context, put func(Item) error) error {
		for _, i := range items {
			require.NoError(t, put(i))
		}
		return nil
	}, func(Counts) {})
	require.NoError(t, err)
	written := unpack(t, file.Bytes())
	assert.Equal(t, strings.Split(stored+storedEnd, "\n"), strings.Split(written, "\n"))
}

// Ensure that a dump with the open games of players, which earlier versions stored, is read without them.
func TestDump_OpenGames(t *testing.T) {
	t.Parallel()
	const before = `{"Challenge":`
	open := strings.Replace(stored, before, `{"OpenGame":{"PlayerID":"ann","GameID":"g","Since":"2026-11-26T11:00:00Z"}}`+"\n"+before, 1)
	end := regexp.MustCompile("[0-9a-f]{64}").ReplaceAllLiteralString(storedEnd, "403e245a0c21424e6d5d7fac7ba05ad49b25fe6bd9ac13a42e9e5c05e166230a")
	items, counts, err := read(pack(t, open+end), time.Time{})
	require.NoError(t, err)
	without, same, err := read(pack(t, stored+storedEnd), time.Time{})
	require.NoError(t, err)
	assert.Equal(t, same, counts)
	assert.Equal(t, without, slices.DeleteFunc(items, func(i Item) bool { return i == Item{} }))
}

// Ensure that a dump that was cut or changed anywhere is refused.
func TestDump_Damaged(t *testing.T) {
	t.Parallel()
	var file bytes.Buffer
	_, err := WriteDump(t.Context(), &file, time.Now(), func(_ context.Context, put func(Item) error) error {
		return put(Item{Hidden: &DumpedPlayer{PlayerID: "eve"}})
	}, func(Counts) {})
	require.NoError(t, err)
	whole := file.Bytes()
	_, _, err = read(whole, time.Time{})
	require.NoError(t, err)
	for n := range whole {
		_, _, err := read(whole[:n], time.Time{})
		require.Error(t, err, "cut at %d", n)
	}
	_, _, err = read(slices.Concat(whole, pack(t, "more\n")), time.Time{})
	require.ErrorIs(t, err, errDamaged)

	text := unpack(t, whole)
	for _, damage := range []struct{ from, to string }{{"eve", "adam"}, {`"Games":0`, `"Games":1`}, {`{"Hidden":{"PlayerID":"eve"}}` + "\n", ""}} {
		changed := strings.Replace(text, damage.from, damage.to, 1)
		require.NotEqual(t, text, changed)
		_, _, err := read(pack(t, changed), time.Time{})
		require.ErrorIs(t, err, errDamaged, damage.from)
	}
	lines := slices.Collect(strings.Lines(text))
	_, _, err = read(pack(t, strings.Join(lines[:len(lines)-1], "")), time.Time{})
	require.ErrorIs(t, err, errDamaged)
}

func TestDump_NotReadable(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                                  "it is damaged or incomplete (EOF)",
		"hello\n":                           "it is neither a dump nor a backup",
		"{}\n":                              "it is neither a dump nor a backup",
		`{"Dump":2,"Format":1}` + "\n":      "it was written by a newer version of this program: the version of the dump is 2, and this program supports up to 1",
		`{"Dump":1,"Format":9}` + "\n":      "it was written by a newer version of this program: the format of its games is 9, and this program supports up to 1",
		`{"Dump":1,"Format":1}` + "\nhello": "it is damaged or incomplete (EOF)",
	} {
		_, _, err := read(pack(t, text), time.Time{})
		assert.EqualError(t, err, want, text)
	}
	_, _, err := read([]byte("hello"), time.Time{})
	assert.EqualError(t, err, "it is neither a dump nor a backup")
	failing := iotest.ErrReader(errors.New("input/output error"))
	_, err = ReadDump(t.Context(), failing, time.Time{}, func(context.Context, []Item) error { return nil }, func(Counts) {})
	assert.EqualError(t, err, "input/output error")
}

// Ensure that an old dump keeps its data as long as it did when it was made, and that no server has
// a heartbeat after the dump.
func TestDump_Old(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 26, 12, 0, 0, 0, time.UTC)
	var file bytes.Buffer
	_, err := WriteDump(t.Context(), &file, at, func(_ context.Context, put func(Item) error) error {
		require.NoError(t, put(Item{Head: &DumpedHead{GameID: "g", Expires: at.Add(time.Hour)}}))
		return put(Item{Server: &DumpedServer{ServerID: "s", ServerHeartbeat: ServerHeartbeat{At: at.AddDate(1, 0, 0)}}})
	}, func(Counts) {})
	require.NoError(t, err)
	for now, want := range map[time.Time]time.Time{at.AddDate(1, 0, 0): at.AddDate(1, 0, 0).Add(time.Hour), at.AddDate(-1, 0, 0): at.Add(time.Hour)} {
		items, _, err := read(file.Bytes(), now)
		require.NoError(t, err)
		assert.Equal(t, want, items[0].Head.Expires)
		assert.Equal(t, ServerHeartbeat{At: at, Left: true}, items[1].Server.ServerHeartbeat)
	}
}
