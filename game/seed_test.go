package game_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/game"
	"github.com/gridstand/gridstand/game/internal/gametest"
)

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
