package game_test

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/game"
	"github.com/gridstand/gridstand/game/internal/gametest"
)

func TestSeedVectors(t *testing.T) {
	t.Parallel()
	s := gametest.CountingSeed()
	c := s.Commitment()
	assert.Equal(t, "630dcd2966c4336691125448bbb25b4ff412a49c732db2c8abc1b8581bd710dd", hex.EncodeToString(c[:]))

	for _, tc := range []struct {
		version int32
		draws   [][2]int // bound and expected draw
	}{
		{1, [][2]int{{16, 0}, {10, 6}, {15, 2}, {10, 0}, {1000, 316}, {1000, 14}}},
		{2, [][2]int{{14, 1}, {10, 7}}},
	} {
		d := s.Draws(tc.version)
		for i, want := range tc.draws {
			assert.Equalf(t, want[1], d.Draw(want[0]), "version %d, draw %d", tc.version, i)
		}
	}
}

func TestSeed_PrintsNothing(t *testing.T) {
	t.Parallel()
	s := gametest.CountingSeed()
	held := struct {
		Seed   game.Seed
		hidden game.Seed
	}{s, s}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%x", "%q", "%d"} {
		assert.Equal(t, "[seed]", fmt.Sprintf(verb, s), verb)
		assert.NotContains(t, fmt.Sprintf(verb, held), "1 2 3", verb)
		assert.NotContains(t, fmt.Sprintf(verb, held), "0102", verb)
	}
	j, err := json.Marshal(held)
	require.NoError(t, err)
	assert.False(t, held.hidden.IsZero())
	assert.JSONEq(t, `{"Seed":"[seed]"}`, string(j))

	var out bytes.Buffer
	slog.New(slog.NewJSONHandler(&out, nil)).Info("created", "seed", s, "held", held)
	assert.NotContains(t, out.String(), "AQID")
	assert.Contains(t, out.String(), "[seed]")
}

func TestSeedFromBytes_WrongLength(t *testing.T) {
	t.Parallel()
	for _, n := range []int{0, 31, 33} {
		_, err := game.SeedFromBytes(make([]byte, n))
		assert.Errorf(t, err, "%d bytes", n)
	}
	assert.NotEqual(t, game.NewSeed().SeedBytes(), game.NewSeed().SeedBytes())
}

func TestDraws_BeyondOneBlock(t *testing.T) {
	t.Parallel()
	d := gametest.CountingSeed().Draws(1)
	seen := map[int]int{}
	for range 6000 {
		seen[d.Draw(6)]++
	}
	for face := range 6 {
		assert.InDeltaf(t, 1000, seen[face], 150, "face %d", face)
	}
}
