// Package lobby implements the pages for finding and starting games: the lobby with its
// lists, and the rules of a variant.
package lobby

import (
	"cmp"
	"context"
	"slices"
	"time"

	"charm.land/bubbles/v2/textinput"
	tea "charm.land/bubbletea/v2"

	"github.com/gridstand/gridstand/client"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/ui"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// refreshTime is the interval between requests for the lists. If the first lists have no live
// game, the second request is made after soonTime, because the first one can make the server
// start an exhibition.
const refreshTime, soonTime = 2 * time.Second, time.Second

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
	*ui.Tasks
	env *ui.Env

	lists  ui.Lists // as received from the server
	loaded bool
	games  [paneScores][]*pb.Game // filtered and sorted, as shown
	// pane is the pane with the focus. cursors has the selected row of each pane.
	pane    int
	cursors [panes]cursor
	filter  textinput.Model
	// variant is the leaderboard's variant. If it is empty, the leaderboard is for the
	// selected game's variant.
	variant string
	window  int // index in windows
	moves   int // counts selection changes

	daily   daily
	preview preview
	form    *form // nil while closed
	// begin opens the form once the variants arrive. It is nil if no key has requested the form.
	begin func()
	// hidden is set while another page is visible. cycle is incremented each time the page
	// becomes visible again. Refresh timers of earlier cycles are ignored.
	hidden bool
	cycle  int
	// problem is the reason why the lists are out of date. notice reports that a key's
	// action failed, done that it succeeded.
	problem, notice, done string
}

// New returns the lobby.
func New(ctx context.Context, env *ui.Env) ui.Page { return newPage(ctx, env) }

// NewTop returns the lobby with the focus on the leaderboard of a variant, given by its id.
func NewTop(ctx context.Context, env *ui.Env, variant string) ui.Page {
	p := newPage(ctx, env)
	p.pane, p.variant = paneScores, variant
	return p
}

func newPage(ctx context.Context, env *ui.Env) *page {
	filter := textinput.New()
	filter.Prompt, filter.CharLimit = "", 26
	filter.SetWidth(27)
	return &page{env: env, Tasks: ui.NewTasks(ctx), filter: filter, cycle: 1}
}

func (p *page) Init() tea.Cmd { return tea.Batch(p.load(p.cycle), p.loadDaily()) }

func (p *page) Typing() bool { return p.filter.Focused() }

// Input implements ui.Typing.
func (p *page) Input(msg tea.Msg) (cmd tea.Cmd) {
	p.filter, cmd = p.filter.Update(msg)
	return cmd
}

// load requests the lists. cycle is 0 if the selection has changed, and otherwise the current
// cycle, in which the lists are then refreshed.
func (p *page) load(cycle int) tea.Cmd {
	me, variant, window := p.env.Me, p.board(), windows[p.window].window
	known := p.lists.Variants
	return ui.Call(p.Tasks, func(ctx context.Context) (ui.Lists, error) {
		return p.env.Server.Lists(ctx, me, variant, window, known)
	}, func(lists ui.Lists, err error) tea.Cmd { return p.listed(cycle, lists, err) })
}

// refresh requests the lists, unless another page has been visible since the given cycle.
func (p *page) refresh(cycle int) tea.Cmd {
	if p.hidden || cycle != p.cycle {
		return nil
	}
	return p.load(cycle)
}

// loadDaily requests the daily game.
func (p *page) loadDaily() tea.Cmd {
	cycle, server := p.cycle, p.env.Server
	return ui.Call(p.Tasks, func(ctx context.Context) (daily, error) { return getDaily(ctx, server) },
		func(d daily, err error) tea.Cmd { return p.gotDaily(cycle, d, err) })
}

// gotDaily updates the daily game and schedules the next request. cycle is the value of
// page.cycle at the time of the request. gotDaily ignores errors, since the list requests
// already report problems with the server.
func (p *page) gotDaily(cycle int, d daily, err error) tea.Cmd {
	if cycle != p.cycle || p.hidden {
		return nil
	}
	if err == nil {
		p.daily = d
		p.daily.ahead = d.now.Sub(p.env.Now)
	}
	return p.Later(dailyTime, func() tea.Cmd {
		if p.hidden || cycle != p.cycle {
			return nil
		}
		return p.loadDaily()
	})
}

// board returns the leaderboard's variant.
func (p *page) board() string {
	return cmp.Or(p.variant, p.current().GetVariant(), "classic")
}

// open opens another page. While that page is visible, the lobby makes no requests.
func (p *page) open(r ui.Route) tea.Cmd {
	p.hidden = true
	p.preview.leave()
	return ui.Open(r)
}

// Resumed implements ui.Resuming. It restarts the requests that open stopped.
func (p *page) Resumed() tea.Cmd {
	if !p.hidden {
		return nil
	}
	p.hidden, p.preview = false, preview{}
	p.cycle++
	return tea.Batch(p.load(p.cycle), p.loadDaily(), p.follow())
}

// listed shows the lists that load requested.
func (p *page) listed(cycle int, lists ui.Lists, err error) tea.Cmd {
	var again tea.Cmd
	if cycle == p.cycle && !p.hidden {
		again = p.Later(p.refreshAfter(lists, err), func() tea.Cmd { return p.refresh(cycle) })
	}
	if err != nil {
		p.problem = ui.Explain(err, "Retrying …")
		if p.begin != nil {
			p.notice = "" // The problem explains why the form does not open yet.
		}
		return again
	}
	first := !p.loaded
	p.problem, p.lists, p.loaded = "", lists, true
	p.arrange()
	if first && len(p.games[paneLive]) == 0 && len(p.games[paneMine]) > 0 {
		p.pane = paneMine
	}
	if p.begin != nil && len(p.lists.Variants) > 0 {
		p.begin()
	}
	return tea.Batch(again, p.selected())
}

// refreshAfter returns how long after a reply to request the lists again.
func (p *page) refreshAfter(lists ui.Lists, err error) time.Duration {
	if !p.loaded && err == nil && len(lists.Live) == 0 {
		return soonTime
	}
	return refreshTime
}

// arrange filters and sorts the lists. Each cursor stays on its item.
func (p *page) arrange() {
	open := races(p.lists.Races, p.lists.Live)
	p.games[paneLive] = order(filtered(append(open, withoutAttempts(p.lists.Live, open)...), p.filter.Value()), p.env.Now)
	mine := filtered(p.lists.Mine, p.filter.Value())
	slices.SortStableFunc(mine, func(a, b *pb.Game) int { return cmp.Compare(finished(a), finished(b)) })
	p.games[paneMine] = mine
	for pane, games := range p.games {
		p.cursors[pane].set(idsOf(games, (*pb.Game).GetId))
	}
	p.cursors[paneScores].set(idsOf(p.lists.Scores, (*pb.Entry).GetGameId))
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

// selected handles the selection of another game or leaderboard.
func (p *page) selected() tea.Cmd {
	cmd := p.follow()
	if p.stale() {
		p.moves++
		moves := p.moves
		cmd = tea.Batch(cmd, p.Later(settleTime, func() tea.Cmd {
			if moves != p.moves || !p.stale() || p.hidden {
				return nil
			}
			return p.load(0)
		}))
	}
	return cmd
}

// stale reports whether the leaderboard to show differs from the loaded one.
func (p *page) stale() bool {
	return p.loaded && (p.board() != p.lists.Variant || windows[p.window].window != p.lists.Window)
}

// follow shows the selected game in the preview, and starts watching it after settleTime. The
// preview of a race, which has no stream, shows what the lists say.
func (p *page) follow() tea.Cmd {
	g := p.current()
	if g.GetId() == p.preview.id && !isRace(g) {
		return nil
	}
	p.preview.show(g, p.env.Now)
	if g == nil || p.hidden || isRace(g) {
		return nil
	}
	return p.Later(settleTime, func() tea.Cmd { return p.watch(g.GetId()) })
}

// watch starts watching the previewed game, if it is still the one with the given id.
func (p *page) watch(id string) tea.Cmd {
	v := &p.preview
	if id == "" || id != v.id || v.cancel != nil {
		return nil
	}
	ctx, cancel := context.WithCancel(p.Ctx)
	v.cancel = cancel
	stream := p.env.Server.Watch(ctx, client.WatchOptions{GameID: id, Preview: true})
	return ui.Follow(p.Tasks, stream, func(u client.Update, err error) tea.Cmd {
		if ctx.Err() == nil && err == nil {
			p.previewed(u)
		}
		return nil
	})
}

// previewed updates the preview and the rows of its game, since the preview is newer than the
// lists.
func (p *page) previewed(u client.Update) {
	p.preview.state.Update(u, p.env.Now)
	newer := p.preview.state.Game.Game
	for _, games := range p.games {
		for i, g := range games {
			if newer.GetVersion() > g.GetVersion() && newer.GetId() == g.GetId() {
				games[i] = newer
			}
		}
	}
}
