// Package lobby implements the page for finding and starting games, and the rules of a variant.
package lobby

import (
	"cmp"
	"context"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/gridstand/gridstand/client"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/gamestate"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/ui"
	"github.com/gridstand/gridstand/internal/convert"
	"github.com/gridstand/gridstand/internal/describe"
	"github.com/gridstand/gridstand/internal/names"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// refreshTime is the interval between requests for the lists.
const refreshTime = 2 * time.Second

// settleTime debounces the selection of a game: its stream and leaderboard are requested
// after this delay, so that scrolling through a list makes no requests.
const settleTime = 150 * time.Millisecond

// The panes that show a list.
const (
	paneLive = iota
	paneMine
	paneScores
	panes
)

// windows are the periods of the leaderboard.
var windows = []struct {
	window pb.Window
	name   string
}{{pb.Window_WINDOW_DAY, "day"}, {pb.Window_WINDOW_WEEK, "week"}, {pb.Window_WINDOW_ALL_TIME, "all time"}}

// page is the lobby. It shows live games, the user's own games and the leaderboard, and
// refreshes them while it is visible.
type page struct {
	*ui.Tasks // stopped while another page is visible
	ctx       context.Context
	env       *ui.Env

	lists  ui.Lists // as received from the server
	loaded bool
	games  [paneScores][]*pb.Game // sorted, as shown
	// pane is the pane with the focus. cursors has the selected row of each pane.
	pane    int
	cursors [panes]cursor
	// variant is the leaderboard's variant. If it is empty, the leaderboard is for the
	// selected game's variant.
	variant string
	window  int      // index in windows
	settle  ui.Timer // started by each change of the selection

	daily   *pb.GetChallengeResponse // the daily game, or nil while it is unknown
	profile *pb.GetProfileResponse   // the user's, or nil while it is unknown
	preview gamestate.State          // of the selected game, or empty
	problem string                   // why the lists are out of date, or ""
}

// New returns the lobby.
func New(ctx context.Context, env *ui.Env) ui.Page {
	return &page{ctx: ctx, env: env, Tasks: ui.NewTasks(ctx)}
}

func (p *page) Init() tea.Cmd { return tea.Batch(p.refresh(), p.loadDaily()) }

// refresh requests the lists, now and then every refreshTime.
func (p *page) refresh() tea.Cmd {
	return p.load(func(lists ui.Lists, err error) tea.Cmd {
		return tea.Batch(p.Later(refreshTime, p.refresh), p.listed(lists, err))
	})
}

func (p *page) load(then func(ui.Lists, error) tea.Cmd) tea.Cmd {
	me, variant, window := p.env.Me, p.board(), windows[p.window].window
	known := p.lists.Variants
	return ui.Call(p.Tasks, func(ctx context.Context) (ui.Lists, error) {
		return p.env.Server.Lists(ctx, me, variant, window, known)
	}, then)
}

// loadDaily requests the daily game and the user's profile, now and then every dailyTime. It ignores errors, since
// the list requests already report problems with the server.
func (p *page) loadDaily() tea.Cmd {
	me, server := p.env.Me, p.env.Server
	return p.Do(func(ctx context.Context) ui.Then {
		daily, _ := server.GetChallenge(ctx, &pb.GetChallengeRequest{Daily: &pb.DailyRequest{}})
		var profile *pb.GetProfileResponse
		if me != "" {
			profile, _ = server.Profile(ctx)
		}
		return func() tea.Cmd {
			p.daily, p.profile = cmp.Or(daily, p.daily), cmp.Or(profile, p.profile)
			name := profile.GetPlayer().GetName()
			if name != "" && !names.IsGuest(name) { // perhaps renamed by another program
				p.env.NewName = name
			}
			return p.Later(dailyTime, p.loadDaily)
		}
	})
}

// account returns the user's name and their streak of daily games, for the header.
func (p *page) account() string {
	if p.profile.GetPlayer() == nil {
		return ""
	}
	name := client.CleanName(p.profile.GetPlayer().GetName())
	return describe.Phrases(name, describe.Streak(p.profile.GetDaily().GetStreak()))
}

// board returns the leaderboard's variant.
func (p *page) board() string {
	return cmp.Or(p.variant, p.current().GetVariant(), "classic")
}

// Pause implements ui.Pausing.
func (p *page) Pause() { p.Stop() }

// Resumed implements ui.Resuming. It restarts the requests.
func (p *page) Resumed() tea.Cmd {
	p.Tasks, p.preview = ui.NewTasks(p.ctx), gamestate.New(nil)
	return tea.Batch(p.Init(), p.selected())
}

// listed shows the lists that load requested.
func (p *page) listed(lists ui.Lists, err error) tea.Cmd {
	if err != nil {
		p.problem = ui.Explain(err, ui.Gone)
		return nil
	}
	first := !p.loaded
	p.problem, p.lists, p.loaded = "", lists, true
	p.arrange()
	if first && len(p.games[paneLive]) == 0 && len(p.games[paneMine]) > 0 {
		p.pane = paneMine
	}
	return p.selected()
}

// arrange sorts the lists. Each cursor stays on its item.
func (p *page) arrange() {
	open := races(p.lists.Races, p.lists.Live)
	p.games[paneLive] = order(append(open, withoutAttempts(p.lists.Live, open)...), p.env.Now)
	over := slices.DeleteFunc(slices.Clone(p.lists.Mine), func(g *pb.Game) bool { return !finished(g) })
	p.games[paneMine] = append(slices.DeleteFunc(slices.Clone(p.lists.Mine), finished), over...)
	for pane, games := range p.games {
		p.cursors[pane].set(convert.All(games, (*pb.Game).GetId))
	}
	p.cursors[paneScores].set(convert.All(p.lists.Scores, (*pb.Entry).GetGameId))
}

// current returns the selected game of the focused list, or nil. If the leaderboard has the
// focus, it returns the selected live game.
func (p *page) current() *pb.Game {
	pane := p.pane
	if pane == paneScores {
		pane = paneLive
	}
	if at := p.cursors[pane].at; at < len(p.games[pane]) {
		return p.games[pane][at]
	}
	return nil
}

// selected shows the selected game in the preview. It calls settled once the selection has not changed for
// settleTime.
func (p *page) selected() tea.Cmd {
	g := p.current()
	other := g.GetId() != p.preview.Game.GetId() || isRace(g) // the lists have the state of a race
	if other {
		p.show(g)
	}
	if !other && !p.stale() {
		return nil
	}
	return p.settle.Start(p.Tasks, settleTime, p.settled)
}

// settled starts watching the previewed game, unless it is a race, which has no stream, and
// requests its leaderboard.
func (p *page) settled() tea.Cmd {
	var watch, load tea.Cmd
	if v := &p.preview; v.Game.GetId() != "" && v.Unfollow == nil && !isRace(v.Game.Game) {
		watch = v.Follow(p.env, p.Tasks, client.WatchOptions{Preview: true}, p.previewed)
	}
	if p.stale() {
		load = p.load(p.listed)
	}
	return tea.Batch(watch, load)
}

// stale reports whether the leaderboard to show differs from the loaded one.
func (p *page) stale() bool {
	return p.loaded && (p.board() != p.lists.Variant || windows[p.window].window != p.lists.Window)
}

// previewed updates the rows of the preview's game, since the preview is newer than the lists. If its stream
// has failed, it shows what is known.
func (p *page) previewed(client.Update, bool) tea.Cmd {
	p.preview.Err = nil
	newer := p.preview.Game.Game
	for _, games := range p.games {
		for i, g := range games {
			if newer.GetVersion() > g.GetVersion() && newer.GetId() == g.GetId() {
				games[i] = newer
			}
		}
	}
	return nil
}

// show makes g the previewed game. g may be nil.
func (p *page) show(g *pb.Game) {
	if p.preview.Unfollow != nil {
		p.preview.Unfollow()
	}
	p.preview = gamestate.New(g)
	// The lists have just been loaded, so assume that the connection is good until the
	// stream reports otherwise.
	p.preview.Update(client.Update{Connection: client.Connection{State: client.Live}})
}
