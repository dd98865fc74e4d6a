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
		"quiet": func(env *ui.Env) ui.Page { return quiet(t, env) },
		"new": func(env *ui.Env) ui.Page {
			p := loaded(t, env, triboloID)
			p.askNew(false)
			return p
		},
		"rules": func(env *ui.Env) ui.Page {
			p := loaded(t, env, triboloID)
			variants := tuitest.Variants()
			p.Dialog = Rules(variants[len(variants)-1])
			return p
		},
	} {
		tuitest.Golden(t, name, open)
	}
}

// quiet returns the lobby of a server with an exhibition, a race and a game that wait, and no scores, for
// a user without games.
func quiet(t *testing.T, env *ui.Env) *page {
	t.Helper()
	bots := tuitest.Game(tuitest.Board(4, 4))
	bots.Exhibition, bots.Seats = true, []*pb.Seat{{Occupant: &pb.Seat_Bot{Bot: "expectimax"}}}
	all := lists(t, "", "classic", pb.Window_WINDOW_DAY)
	all.Live, all.Scores = []*pb.Game{all.Live[4], bots}, nil
	race := tuitest.WaitingRace()
	race.Entrants = race.Entrants[1:]
	all.Races = []*pb.Challenge{race}
	env.Me = ""
	p := New(t.Context(), env).(*page)
	p.listed(all, nil)
	p.daily = &pb.GetChallengeResponse{Challenge: tuitest.DailyGame()}
	return p
}

// withChallenges adds the daily game, which the user has finished, and a race that is
// waiting for players.
func withChallenges(t *testing.T, p *page) *page {
	t.Helper()
	race := tuitest.WaitingRace()
	race.Entrants = race.Entrants[1:]
	p.lists.Races = []*pb.Challenge{race}
	p.arrange()
	p.profile = &pb.GetProfileResponse{
		Player:   &pb.Player{Id: "ada", Name: "ada"},
		Variants: []*pb.VariantRecord{{Variant: "classic", BestScore: 20000}}, Daily: &pb.DailyRecord{Streak: 5},
	}
	p.daily = &pb.GetChallengeResponse{
		Challenge: tuitest.DailyGame(),
		Attempt:   &pb.Attempt{Status: pb.GameStatus_GAME_STATUS_FINISHED, Score: 12345, DayStreak: 5},
	}
	return p
}
