package tui

import (
	"context"
	"time"

	tea "charm.land/bubbletea/v2"

	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// look asks where the player stands.
func (p *Play) look(tries int) tea.Cmd {
	id, variant := p.opened.GetId(), p.opened.GetVariant()
	return p.tasks.do(func(ctx context.Context) tea.Msg {
		day, err := p.server.Place(ctx, variant, pb.Window_WINDOW_DAY)
		if err != nil {
			return placedMsg{gameID: id, tries: tries, err: err}
		}
		all, err := p.server.Place(ctx, variant, pb.Window_WINDOW_ALL_TIME)
		return placedMsg{gameID: id, day: &day, all: &all, tries: tries, err: err}
	})
}

// placed takes in where the player stands and looks again later: soon while a
// result is not recorded yet, else seldom.
func (p *Play) placed(msg placedMsg) tea.Cmd {
	if p.over() && msg.tries == 0 {
		return nil // asked before the end
	}
	again := rankMsg{gameID: msg.gameID}
	if p.over() && msg.tries < recordTries && !p.recorded(msg) {
		again.tries = msg.tries + 1
		return p.tasks.after(time.Second<<min(msg.tries-1, 3), again)
	}
	if msg.err == nil {
		p.day, p.all = msg.day, msg.all
	}
	if p.over() {
		return nil
	}
	return p.tasks.after(rankTime, again)
}

// recorded reports whether the leaderboard has the result of the finished game,
// as far as it ever will.
func (p *Play) recorded(msg placedMsg) bool {
	if msg.err != nil {
		return false
	}
	has := func(b *Place) bool { return b.GameID == p.opened.GetId() || b.Score >= p.score() }
	return !p.game.GetRanked() || p.score() == 0 || has(msg.day) && has(msg.all)
}
