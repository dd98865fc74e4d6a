package tui

import (
	"context"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/gridstand/gridstand/client"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// Times of TV.
const (
	resultTime = 6 * time.Second  // how long a result stays on the screen
	idleTime   = 10 * time.Minute // after which a game without a move comes last
	firstWait  = 2 * time.Second  // before looking again where no game is live
	lastWait   = 15 * time.Second // the longest such wait
)

// seenLimit bounds the games that TV remembers to have shown.
const seenLimit = 100

// tv chooses what is watched where the user did not.
type tv struct {
	// why the game on the screen was chosen.
	why string
	// seen are the games shown, the last one at the end.
	seen []string
	// finding is set while a game is looked for; looks counts how often one was.
	finding bool
	looks   int
	// wait is the wait before the next look and until when it ends; 0 while
	// there is a game.
	wait  time.Duration
	until time.Time
}

// findMsg asks for the next game, unless one was looked for since: after so many
// looks.
type findMsg struct{ looks int }

// foundMsg brings what is live.
type foundMsg struct {
	watched, best []*pb.Game
	err           error
}

// find looks for the next game.
func (w *Watch) find() tea.Cmd {
	if w.tv.finding {
		return nil
	}
	w.tv.finding = true
	return w.tasks.do(func(ctx context.Context) tea.Msg { return live(ctx, w.server) })
}

// findAfter looks for the next game after a while, unless the user does before.
func (w *Watch) findAfter(d time.Duration) tea.Cmd {
	return w.tasks.after(d, findMsg{w.tv.looks})
}

// live asks what is live.
func live(ctx context.Context, s Server) foundMsg {
	watched, err := s.LiveGames(ctx, pb.OrderBy_ORDER_BY_WATCHERS)
	if err != nil {
		return foundMsg{err: err}
	}
	best, err := s.LiveGames(ctx, pb.OrderBy_ORDER_BY_SCORE)
	return foundMsg{watched: watched, best: best, err: err}
}

// PickLive returns the game that TV would show first, and why, nil where none
// is live.
func PickLive(ctx context.Context, s Server, now time.Time) (*pb.Game, string, error) {
	found := live(ctx, s)
	g, why := new(tv).choose(found.watched, found.best, now)
	return g, why, found.err
}

// found goes over to the next game, or waits for one.
func (w *Watch) found(msg foundMsg) tea.Cmd {
	t := w.tv
	t.finding = false
	t.looks++
	w.problem = ""
	running := w.gameID != "" && !w.over() && !w.lost
	switch {
	case msg.err != nil && running:
		w.problem = plainly(msg.err, sameKey)
	case msg.err != nil:
		w.problem = plainly(msg.err, "Is it the right one?")
	}
	g, why := t.choose(msg.watched, msg.best, w.now)
	switch {
	case g == nil && running, g != nil && running && g.GetId() == w.gameID:
		if msg.err == nil {
			w.problem = "No other game is live."
		}
		return nil
	case g == nil:
		w.leave()
		t.wait = min(max(t.wait*2, firstWait), lastWait)
		t.until = w.now.Add(t.wait)
		return w.findAfter(t.wait)
	}
	w.leave()
	w.gameID, t.why, t.wait = g.GetId(), why, 0
	t.seen = append(t.seen, g.GetId())
	t.seen = t.seen[max(len(t.seen)-seenLimit, 0):]
	return w.follow()
}

// leave takes the game off the screen.
func (w *Watch) leave() {
	if w.leaveGame != nil {
		w.leaveGame()
		w.leaveGame = nil
	}
	w.gameID, w.match, w.past = "", newMatch(nil), past{}
}

// choose picks the most watched game, failing that the one with the best
// score, of those not shown yet; when all were, of all but the last. Games in
// which nobody moved for long come last. It returns nil where nothing is live.
func (t *tv) choose(watched, best []*pb.Game, now time.Time) (*pb.Game, string) {
	var last []string
	if len(t.seen) > 0 {
		last = t.seen[len(t.seen)-1:]
	}
	for _, but := range [][]string{t.seen, last, nil} {
		for _, idle := range []bool{false, true} {
			fits := func(g *pb.Game) bool {
				return pictureOf(g.GetPosition(), noMarks, nil) != nil && !slices.Contains(but, g.GetId()) &&
					(idle || now.Sub(g.GetUpdateTime().AsTime()) < idleTime)
			}
			if i := slices.IndexFunc(watched, fits); i >= 0 && watched[i].GetWatchers() > 0 {
				return watched[i], "the most watched live game"
			}
			if i := slices.IndexFunc(best, fits); i >= 0 {
				return best[i], "the best live " + client.CleanText(best[i].GetVariant(), nameLimit) + " game"
			}
		}
	}
	return nil, ""
}
