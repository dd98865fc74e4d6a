package gamelog

import (
	"crypto/sha256"
	"encoding/binary"

	"github.com/gridstand/gridstand/server/internal/store"
)

// Genesis returns the ID that precedes entry 1. It has version 0 and the digest of the game's
// ID, so that no two games share a history.
func Genesis(gameID string) store.ID {
	sum := sha256.Sum256([]byte(gameID))
	return store.ID{Digest: binary.BigEndian.Uint64(sum[:])}
}

// nextID returns the ID of the entry that follows id. Its digest is the first 8 bytes of
// SHA-256(previous digest ‖ entry ‖ board), where board is the position after the entry, as
// encoded by the rules.
func nextID(id store.ID, entry, board []byte) store.ID {
	var room [256]byte // avoids an allocation for most entries
	buffer := binary.BigEndian.AppendUint64(room[:0], id.Digest)
	buffer = append(buffer, entry...)
	buffer = append(buffer, board...)
	sum := sha256.Sum256(buffer)
	return store.ID{Version: id.Version + 1, Digest: binary.BigEndian.Uint64(sum[:])}
}
