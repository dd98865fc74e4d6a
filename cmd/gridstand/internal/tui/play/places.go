package play

import (
	"fmt"

	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/gamestate"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/ui"
	"github.com/gridstand/gridstand/internal/describe"
)

// places holds the player's places on the variant's daily and all-time leaderboards. Both
// are nil until known.
type places struct{ day, all *ui.Place }

// have reports whether the leaderboards already contain the result of a finished game, or
// will never contain it.
func (p places) have(g *gamestate.State, score int32) bool {
	has := func(at *ui.Place) bool { return at.GetGameId() == g.Game.GetId() || at.GetScore() >= score }
	return !g.Ranked() || score == 0 || has(p.day) && has(p.all)
}

// best returns the player's all-time best score, including this game if it is ranked.
func (p places) best(s *gamestate.State, seat int) string {
	var best int32
	if p.all != nil {
		best = p.all.GetScore()
	}
	if s.Game.GetRanked() {
		best = max(best, s.ScoreOf(seat))
	}
	if best == 0 {
		return "–"
	}
	return describe.Comma(best)
}

// newcomer reports whether the player has no score on the leaderboard yet.
func (p places) newcomer() bool { return p.all != nil && p.all.GetRank() == 0 }

// stands describes the player's rank after a game. If another game determines the rank, the
// description includes that game's score.
func stands(at *ui.Place, window, gameID string) string {
	text := placeText(at, window)
	if at != nil && at.GetRank() > 0 && at.GetGameId() != gameID {
		text += " (best " + describe.Comma(at.GetScore()) + ")"
	}
	return text
}

// placeText describes the player's rank on the leaderboard of a period.
func placeText(p *ui.Place, window string) string {
	switch {
	case p == nil:
		return "… " + window
	case p.GetRank() == 0 && p.Total == 0:
		return "no scores " + window
	case p.GetRank() == 0:
		return "– of " + describe.Comma(p.Total) + " " + window
	default:
		return fmt.Sprintf("#%s of %s %s", describe.Comma(p.GetRank()), describe.Comma(p.Total), window)
	}
}
