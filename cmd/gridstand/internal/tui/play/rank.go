package play

import (
	"context"
	"fmt"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/gamestate"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/ui"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

const (
	rankTime    = time.Minute // from one look at the leaderboard to the next
	recordTries = 6           // looks at the leaderboard for a result just made
)

// places are the player's places on the leaderboard of the variant, nil until they are
// known.
type places struct{ day, all *ui.Place }

type (
	// placedMsg brings the places.
	placedMsg struct {
		aboutGame
		places places
		tries  int
		err    error
	}
	// rankMsg is the time to look again.
	rankMsg struct {
		aboutGame
		tries int
	}
)

// lookUp asks for the player's places.
func lookUp(t *ui.Tasks, s ui.Server, g *pb.Game, tries int) tea.Cmd {
	about, variant := aboutGame(g.GetId()), g.GetVariant()
	return t.Do(func(ctx context.Context) tea.Msg {
		day, err := s.Place(ctx, variant, pb.Window_WINDOW_DAY)
		if err != nil {
			return placedMsg{aboutGame: about, tries: tries, err: err}
		}
		all, err := s.Place(ctx, variant, pb.Window_WINDOW_ALL_TIME)
		return placedMsg{aboutGame: about, places: places{&day, &all}, tries: tries, err: err}
	})
}

// update takes places that were looked up, and looks again later: soon if a result is not
// recorded yet, otherwise rarely.
func (p *places) update(msg placedMsg, s *seated, t *ui.Tasks) tea.Cmd {
	if s.Over() && msg.tries == 0 {
		return nil // asked before the end
	}
	again := rankMsg{aboutGame: msg.aboutGame}
	if s.Over() && msg.tries < recordTries && (msg.err != nil || !msg.places.have(&s.State, s.ScoreOf(s.seat()))) {
		again.tries = msg.tries + 1
		return t.After(time.Second<<min(msg.tries-1, 3), again)
	}
	if msg.err == nil {
		*p = msg.places
	}
	if s.Over() {
		return nil
	}
	return t.After(rankTime, again)
}

// have reports whether the leaderboards have the result of a finished game with a score, or
// will never have it.
func (p places) have(g *gamestate.State, score int32) bool {
	if p.day == nil || p.all == nil {
		return false
	}
	has := func(at *ui.Place) bool { return at.GameID == g.Game.GetId() || at.Score >= score }
	return !g.Game.GetRanked() || score == 0 || has(p.day) && has(p.all)
}

// best is the best score of all time, with this game if it is ranked.
func (p places) best(s *gamestate.State, seat int) string {
	var best int32
	if p.all != nil {
		best = p.all.Score
	}
	if s.Game.GetRanked() {
		best = max(best, s.ScoreOf(seat))
	}
	if best == 0 {
		return "–"
	}
	return gamestate.Comma(best)
}

// newcomer reports whether the player has no score on the leaderboard yet.
func (p places) newcomer() bool { return p.all != nil && p.all.Rank == 0 }

// stands says in width columns what rank the player has after a game: by this game, or by a
// better one.
func stands(at *ui.Place, window, gameID string, width int) string {
	text := placeText(at, window)
	if at != nil && at.Rank > 0 && at.GameID != gameID {
		best := gamestate.Comma(at.Score)
		return pickText(width, "best "+best+": "+text, fmt.Sprintf("best %s: #%d %s", best, at.Rank, window))
	}
	return text
}

// placeText says what rank the player has on the leaderboard of a window.
func placeText(p *ui.Place, window string) string {
	switch {
	case p == nil:
		return "… " + window
	case p.Rank == 0 && p.Total == 0:
		return "no scores " + window
	case p.Rank == 0:
		return "– of " + gamestate.Comma(p.Total) + " " + window
	default:
		return fmt.Sprintf("#%s of %s %s", gamestate.Comma(p.Rank), gamestate.Comma(p.Total), window)
	}
}
