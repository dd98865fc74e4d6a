package lobby

import (
	"testing"

	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/tuitest"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/ui"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

func TestScreens(t *testing.T) {
	t.Parallel()
	for name, open := range map[string]func(env *ui.Env) ui.Page{
		"lobby": func(env *ui.Env) ui.Page { return withChallenges(t, loaded(t, env, tuitest.GameID)) },
		"new": func(env *ui.Env) ui.Page {
			p := loaded(t, env, triboloID)
			p.form = newForm(env, tuitest.Variants(), "tribolo", false)
			return p
		},
		"rules": func(env *ui.Env) ui.Page {
			p := NewRules(t.Context(), env, "tribolo").(*rules)
			p.loaded(tuitest.Variants(), nil)
			return p
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tuitest.Golden(t, name, open)
		})
	}
}

// withChallenges adds the daily game, which the user has finished, and a race that is
// waiting for players.
func withChallenges(t *testing.T, p *page) *page {
	t.Helper()
	race := tuitest.WaitingRace()
	race.Entrants = race.Entrants[1:]
	p.lists.Races = []*pb.Challenge{race}
	p.arrange()
	p.gotDaily(daily{
		game: tuitest.DailyGame(), now: tuitest.Noon,
		attempt: &pb.Attempt{Status: pb.GameStatus_GAME_STATUS_FINISHED, Score: 12345, DayStreak: 5},
		place:   ui.Standings{Mine: &pb.Standing{Rank: 3}, Total: 87},
	}, nil)
	return p
}
