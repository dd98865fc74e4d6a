//go:build slow

package fault

import (
	"slices"
	"testing"

	"github.com/anishathalye/porcupine"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/game"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// Ensure that the checker detects wrong answers. The test takes a correct server's answers to
// many concurrent clients, and alters some of them so that they contradict other answers in
// every order of the calls. A random alteration could be correct by chance.
func TestLinearizable_Planted(t *testing.T) {
	t.Parallel()
	env := newSQLiteEnv(t)
	host := env.player(env.serve())
	g := host.start(t, "5x5")
	start := env.genesis(t, host, g)
	w := newWorkload(env, g, slices.Repeat([]*caller{host}, workloadClients))
	w.cancels.Store(0) // the outcome of every call is known
	require.NoError(t, w.run(t.Context(), 7))

	// Make two more calls after all others, one of them with an outdated move, so that each
	// alteration finds an answer to alter.
	late := operation{player: host.id, kind: opMove, version: g.GetVersion()}
	for _, d := range g.GetPosition().GetTwenty48().GetLegalMoves() {
		late.move = game.Slide(game.Direction(d))
		if !slices.ContainsFunc(w.history.all, func(op porcupine.Operation) bool { return op.Input == late && moved(op) }) {
			break
		}
	}
	for _, op := range []operation{late, {player: host.id, kind: opGet}} {
		_, err := w.call(t.Context(), nil, 0, op)
		require.NoError(t, err)
	}
	require.Equal(t, porcupine.Ok, w.checkLinearizable(t, start))

	for name, lie := range map[string]func(all []porcupine.Operation) []porcupine.Operation{
		// A client gets an old game, although it made its call after another client had received
		// a later version.
		"an old game": func(all []porcupine.Operation) []porcupine.Operation {
			old := slices.IndexFunc(all, got)
			newer := slices.IndexFunc(all, func(op porcupine.Operation) bool {
				return moved(op) && op.Output.(answer).version > all[old].Output.(answer).version
			})
			asked := slices.IndexFunc(all, func(op porcupine.Operation) bool { return got(op) && op.Call > all[newer].Return })
			all[asked].Output = all[old].Output
			return all
		},
		// A client is told that its move was made at a version at which the log has another
		// move.
		"a move lost": func(all []porcupine.Operation) []porcupine.Operation {
			for i, entry := range all {
				op := entry.Input.(operation)
				if op.kind != opMove || op.version != g.GetVersion() || moved(entry) {
					continue
				}
				if shown, next := start.respond(op); next != start {
					all[i].Output = shown
					return all
				}
			}
			return nil
		},
		"a move without a call": func(all []porcupine.Operation) []porcupine.Operation {
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
			lied := lie(slices.Clone(w.history.all))
			require.NotEmpty(t, lied)
			assert.Equal(t, porcupine.Illegal, porcupine.CheckOperationsTimeout(model(start), lied, searchTimeout))
		})
	}
}

// moved reports whether op's answer is an event, either new or repeated. got reports whether it
// is a game.
func moved(op porcupine.Operation) bool {
	a := op.Output.(answer)
	return op.Input.(operation).kind != opGet && a.version > 0 && a.said != pb.ReasonVersionConflict
}

func got(op porcupine.Operation) bool { return op.Input.(operation).kind == opGet }

// someVersion returns the version of an event in the middle of the history.
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
