//go:build slow

package sitetest_test

import (
	"math/rand/v2"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protojson"

	"github.com/gridstand/gridstand/game/variants"
	"github.com/gridstand/gridstand/internal/testkit/transcript"
	"github.com/gridstand/gridstand/internal/verify"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// TestModules runs the tests that are written in JavaScript.
func TestModules(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("*.test.mjs")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	out, err := node(t, append([]string{"--test", "--test-reporter=tap"}, files...)...)
	require.NoError(t, err, out)
}

// TestVerifier_Games checks that the page accepts valid games, which together contain
// every kind of event.
func TestVerifier_Games(t *testing.T) {
	t.Parallel()
	var games [][]*pb.Event
	var encoded []judged
	for _, v := range variants.All() {
		for n := range uint64(5) {
			events, _ := transcript.Life(t, v.ID, rand.New(rand.NewPCG(n, 15)))
			// The server omits default values, but other programs may write them.
			for _, options := range []protojson.MarshalOptions{{}, {EmitUnpopulated: true}} {
				games, encoded = append(games, events), append(encoded, judged{Events: encode(t, options, events...)})
			}
		}
	}
	actions := (&pb.Event{}).ProtoReflect().Descriptor().Oneofs().ByName("action")
	var happened []string
	for _, events := range games {
		for _, e := range events {
			happened = append(happened, string(e.ProtoReflect().WhichOneof(actions).Name()))
		}
	}
	for i := range actions.Fields().Len() {
		assert.Contains(t, happened, string(actions.Fields().Get(i).Name()), "no game has such an event")
	}
	said := run[verdict](t, "judge.mjs", encoded)
	require.Len(t, said, len(games))
	for i, events := range games {
		report, err := verify.Transcript(transcript.All(events))
		require.NoError(t, err)
		require.Truef(t, said[i].OK, "%s, version %d: %s", report.Variant, said[i].Version, said[i].Problem)
		assert.Equal(t, report.Versions, said[i].Checks.Versions)
		assert.Equal(t, report.Moves, said[i].Checks.Moves)
		assert.Equal(t, report.Spawned, said[i].Checks.Tiles)
		assert.Equal(t, events[len(events)-1].GetSeed(), said[i].Checks.Seed)
	}
}
