package game

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"hash"
	"io"
	"log/slog"
	"sync"
)

// Seed is the secret from which a game derives all of its random draws. Because it reveals all
// future draws, it prints as [seed] with every verb and in logs; only SeedBytes returns its
// content. The zero Seed contains no secret.
type Seed struct {
	// The content is in closures because fmt cannot call Format on an unexported field of
	// another struct. For a function, fmt prints only the address.
	reveal func() [SeedSize]byte
	block  func(version uint64, n uint32, block *[sha256.Size]byte)
}

// SeedSize is the length of a seed and of its commitment in bytes.
const SeedSize = 32

const hiddenSeed = "[seed]"

// NewSeed draws a seed from the operating system's source of randomness.
func NewSeed() Seed {
	var b [SeedSize]byte
	// Read is documented never to fail: it crashes the program instead.
	_, _ = rand.Read(b[:])
	return seedOf(b)
}

// SeedFromBytes returns the seed with the given content, which must have exactly SeedSize
// bytes.
func SeedFromBytes(b []byte) (Seed, error) {
	if len(b) != SeedSize {
		return Seed{}, fmt.Errorf("a seed has %d bytes, not %d", SeedSize, len(b))
	}
	return seedOf([SeedSize]byte(b)), nil
}

func seedOf(b [SeedSize]byte) Seed {
	// Reuse keyed hashes, because setting the key costs more than computing a block, and
	// replaying a game from its log needs ten thousand blocks.
	keyed := sync.Pool{New: func() any { return &blockMAC{Hash: hmac.New(sha256.New, b[:])} }}
	return Seed{
		reveal: func() [SeedSize]byte { return b },
		block: func(version uint64, n uint32, block *[sha256.Size]byte) {
			mac := keyed.Get().(*blockMAC)
			defer keyed.Put(mac)
			binary.BigEndian.PutUint64(mac.message[:8], version)
			binary.BigEndian.PutUint32(mac.message[8:], n)
			mac.Reset()
			mac.Write(mac.message[:])
			mac.Sum(block[:0])
		},
	}
}

// blockMAC computes blocks of random bytes.
type blockMAC struct {
	hash.Hash
	message [12]byte
}

// IsZero reports whether s is the zero Seed, which contains no secret.
func (s Seed) IsZero() bool { return s.reveal == nil }

// SeedBytes returns a copy of the seed's content, or nil for the zero Seed. Only the store may
// contain it, and messages once the game is over or the challenge is closed.
func (s Seed) SeedBytes() []byte {
	if s.IsZero() {
		return nil
	}
	b := s.reveal()
	return b[:]
}

// Commitment returns the SHA-256 hash of the seed. It is published when the game is created, so
// that players can check the seed that is revealed at the end. The seed must not be zero.
func (s Seed) Commitment() [SeedSize]byte { return sha256.Sum256(s.SeedBytes()) }

// Format implements fmt.Formatter. No verb prints the content.
func (s Seed) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, hiddenSeed) }

// LogValue implements slog.LogValuer.
func (s Seed) LogValue() slog.Value { return slog.StringValue(hiddenSeed) }

// MarshalText implements encoding.TextMarshaler, for encoders that would use
// reflection.
func (s Seed) MarshalText() ([]byte, error) { return []byte(hiddenSeed), nil }

// Draws is the stream of random numbers of one version of a game:
// block(v, k) = HMAC-SHA256(seed, uint64be(v) ‖ uint32be(k)) for k = 0, 1, 2, …
// HMAC is from RFC 2104. A Draws is not safe for concurrent use.
type Draws struct {
	seed    Seed
	version uint64
	blocks  uint32
	block   [sha256.Size]byte
	used    int
}

// Draws returns the stream of the given version. The seed must not be zero.
func (s Seed) Draws(version int32) *Draws {
	return &Draws{seed: s, version: uint64(version), used: sha256.Size}
}

// Draw returns a number from 0 to n−1, each equally likely. n must be above 0. Values that
// would favor small numbers are rejected and drawn again.
func (d *Draws) Draw(n int) int {
	if n <= 0 {
		panic(fmt.Sprintf("game: Draw(%d)", n))
	}
	m := uint64(n)
	// The highest 2⁶⁴ mod n values would favor small remainders. 2⁶⁴ itself does
	// not fit into a uint64.
	excess := -m % m
	for {
		if x := d.next(); excess == 0 || x < -excess {
			return int(x % m)
		}
	}
}

func (d *Draws) next() uint64 {
	if d.used == len(d.block) {
		d.seed.block(d.version, d.blocks, &d.block)
		d.blocks++
		d.used = 0
	}
	x := binary.BigEndian.Uint64(d.block[d.used:])
	d.used += 8
	return x
}
