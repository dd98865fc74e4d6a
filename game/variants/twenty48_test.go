package variants_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/gridstand/gridstand/game"
	"github.com/gridstand/gridstand/game/twenty48"
	"github.com/gridstand/gridstand/game/variants"
)

// Ensure that each variant of 2048 has the rules that the documents describe. Package twenty48 tests what
// each of them means.
func TestRules_Of2048(t *testing.T) {
	t.Parallel()
	original := func(side int) twenty48.Config {
		return twenty48.Config{Rows: side, Columns: side, Start: twenty48.StartSpawned, FoursIn: 10, Goal: 2048}
	}
	want := map[string]twenty48.Config{
		"classic": original(4), "3x3": original(3), "5x5": original(5), "6x6": original(6),
		"twos": {Rows: 4, Columns: 4, Start: twenty48.StartMiddleTwo, Goal: 2048, EndsAtGoal: true, HalfScore: true},
		"restless": {
			Rows: 4, Columns: 4, Start: twenty48.StartTwoTwos, FoursIn: 5, Goal: 2048, EndsAtGoal: true, SpawnsAfterGoal: true, IdleMoves: true,
		},
		"vt100": {Rows: 4, Columns: 4, Start: twenty48.StartSpawned, FoursIn: 6, Goal: 2048, EndsAtGoal: true, SpawnsAfterGoal: true},
	}
	got := map[string]twenty48.Config{}
	for _, v := range variants.All() {
		if r, ok := v.Rules.(*twenty48.Rules); ok {
			got[v.ID] = r.Config()
			assert.Equal(t, []int{r.Config().Rows, r.Config().Columns, 1}, []int{v.Rows, v.Columns, v.Seats}, v.ID)
			assert.Equal(t, game.Twenty48, v.Kind, v.ID)
		}
	}
	assert.Equal(t, want, got)
}

// TestStartBoards checks the start boards that any correct implementation of the rules must produce
// from the same seed.
func TestStartBoards(t *testing.T) {
	t.Parallel()
	for id, want := range map[string]map[int]int32{
		"classic":  {0: 2, 3: 4},
		"twos":     {10: 2},
		"restless": {0: 2, 12: 2},
		"vt100":    {0: 2, 3: 2},
	} {
		got := map[int]int32{}
		d := countingSeed(t).Draws(1)
		for i, face := range rules(t, id).Start(d).(*twenty48.Position).Tiles() {
			if face != 0 {
				got[i] = face
			}
		}
		assert.Equal(t, want, got, id)
		drawn := countingSeed(t).Draws(1).Draw(1<<30) != d.Draw(1<<30)
		assert.Equal(t, id != "twos", drawn, "%s draws something at the start", id)
	}
}
