package gamelog

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"
)

// ID identifies an entry and, by its digest, all entries before it and the boards that
// they led to. It is the entry's ID in the Redis stream, version-digest.
type ID struct {
	// Version of the entry, from 1.
	Version int32
	// Digest of the history up to and with the entry.
	Digest uint64
}

// Genesis returns the ID before entry 1: version 0 with the digest of the game's ID,
// so that no two games share a history.
func Genesis(gameID string) ID {
	sum := sha256.Sum256([]byte(gameID))
	return ID{Digest: binary.BigEndian.Uint64(sum[:])}
}

// Next returns the ID of the entry that follows id: the digest is the first 8 bytes
// of SHA-256(previous digest ‖ entry ‖ board), where board is the position
// that the entry leads to, as the rules encode it.
func (id ID) Next(entry, board []byte) ID {
	var room [256]byte // for all but long entries
	buffer := binary.BigEndian.AppendUint64(room[:0], id.Digest)
	buffer = append(buffer, entry...)
	buffer = append(buffer, board...)
	sum := sha256.Sum256(buffer)
	return ID{Version: id.Version + 1, Digest: binary.BigEndian.Uint64(sum[:])}
}

// String returns the ID as Redis writes it.
func (id ID) String() string {
	var room [10 + 1 + 20]byte // as many digits as there can be
	b := strconv.AppendInt(room[:0], int64(id.Version), 10)
	b = append(b, '-')
	return string(strconv.AppendUint(b, id.Digest, 10))
}

// ParseID parses what String returns.
func ParseID(s string) (ID, error) {
	version, digest, ok := strings.Cut(s, "-")
	v, err := strconv.ParseInt(version, 10, 32)
	if !ok || err != nil || v < 0 {
		return ID{}, fmt.Errorf("no id of a log entry: %q", s)
	}
	d, err := strconv.ParseUint(digest, 10, 64)
	if err != nil {
		return ID{}, fmt.Errorf("no id of a log entry: %q", s)
	}
	return ID{Version: int32(v), Digest: d}, nil
}
