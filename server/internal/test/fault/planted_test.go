package fault

import (
	"slices"
	"testing"

	"github.com/anishathalye/porcupine"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/game"
	redistest "github.com/gridstand/gridstand/internal/testkit/redis"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// Ensure the search finds what a wrong server answers. The answers of a right
// server to many clients at once are altered here, each in a way that contradicts
// what else was answered, in whatever order the calls took effect: a server that
// lies at random may happen to say what was true a moment ago.
func TestLinearizable_planted(t *testing.T) {
	t.Parallel()
	w := newWorld(t, redistest.StartMiniredis(t).Addr())
	host := w.player(w.serve(w.addr))
	g := host.start(t, "5x5")
	start := w.genesis(t, host, g)
	a := newArena(w, g, slices.Repeat([]*caller{host}, askers))
	a.quits.Store(0) // No outcome is unknown.
	require.NoError(t, a.run(t.Context(), 7))

	// Every lie finds a place: two calls come after all others, one of them with
	// a move that comes too late.
	late := ask{player: host.id, kind: askMove, version: g.GetVersion()}
	for _, d := range g.GetPosition().GetTwenty48().GetLegalMoves() {
		late.move = game.Slide(game.Direction(d))
		if !slices.ContainsFunc(a.history.all, func(op porcupine.Operation) bool { return op.Input == late && moved(op) }) {
			break
		}
	}
	for _, one := range []ask{late, {player: host.id, kind: askGet}} {
		_, err := a.ask(t.Context(), nil, 0, one)
		require.NoError(t, err)
	}
	require.Zero(t, a.history.unknown())
	require.Equal(t, porcupine.Ok, a.judge(t, start))

	for name, lie := range map[string]func(all []porcupine.Operation) []porcupine.Operation{
		// To a client that called after somebody had been told of a later version.
		"an old game": func(all []porcupine.Operation) []porcupine.Operation {
			old := slices.IndexFunc(all, got)
			newer := slices.IndexFunc(all, func(op porcupine.Operation) bool {
				return moved(op) && op.Output.(answer).version > all[old].Output.(answer).version
			})
			asked := slices.IndexFunc(all, func(op porcupine.Operation) bool { return got(op) && op.Call > all[newer].Return })
			all[asked].Output = all[old].Output
			return all
		},
		// At a version at which the log has another.
		"a move lost": func(all []porcupine.Operation) []porcupine.Operation {
			for i, op := range all {
				a := op.Input.(ask)
				if a.kind != askMove || a.version != g.GetVersion() || moved(op) {
					continue
				}
				if shown, next := start.respond(a); next != start {
					all[i].Output = shown
					return all
				}
			}
			return nil
		},
		"a move that nobody asked for": func(all []porcupine.Operation) []porcupine.Operation {
			version := someVersion(all)
			return slices.DeleteFunc(all, func(op porcupine.Operation) bool {
				return moved(op) && op.Output.(answer).version == version
			})
		},
		"a move refused and made": func(all []porcupine.Operation) []porcupine.Operation {
			version := someVersion(all)
			for i, op := range all {
				if moved(op) && op.Output.(answer).version == version {
					all[i].Output = refuse(pb.ReasonIllegalMove)
				}
			}
			return all
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			lied := lie(slices.Clone(a.history.all))
			require.NotEmpty(t, lied)
			assert.Equal(t, porcupine.Illegal, porcupine.CheckOperationsTimeout(model(start), lied, searchFor))
		})
	}
}

// moved reports whether a call was answered with an event, which it made or
// repeats, and got whether with a game.
func moved(op porcupine.Operation) bool {
	a := op.Output.(answer)
	return op.Input.(ask).kind != askGet && a.version > 0 && a.said != pb.ReasonVersionConflict
}

func got(op porcupine.Operation) bool { return op.Input.(ask).kind == askGet }

// someVersion is the version of an event in the middle of those answered.
func someVersion(all []porcupine.Operation) int32 {
	var versions []int32
	for _, op := range all {
		if moved(op) {
			versions = append(versions, op.Output.(answer).version)
		}
	}
	slices.Sort(versions)
	return versions[len(versions)/2]
}
