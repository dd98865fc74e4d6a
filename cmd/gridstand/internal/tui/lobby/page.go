// Package lobby has the pages from which games are found and started: the lobby with its
// lists, and the rules of a variant.
package lobby

import (
	"cmp"
	"context"
	"strings"
	"time"

	"charm.land/bubbles/v2/textinput"
	tea "charm.land/bubbletea/v2"

	"github.com/gridstand/gridstand/client"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/gamestate"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/ui"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// refreshTime is the time between two requests for the lists.
const refreshTime = 2 * time.Second

// settleTime is the time that a game must be selected for before it is watched and its
// leaderboard is loaded, so that scrolling through a list asks the server for nothing.
const settleTime = 150 * time.Millisecond

// textLimit is the longest text of a server that is shown whole, in characters.
const textLimit = 24

// The panes with a list.
const (
	paneLive = iota
	paneMine
	paneScores
	panes
)

// windows are those of the leaderboard.
var windows = []struct {
	window pb.Window
	name   string
}{{pb.Window_WINDOW_DAY, "day"}, {pb.Window_WINDOW_WEEK, "week"}, {pb.Window_WINDOW_ALL_TIME, "all time"}}

// page is the lobby: live games, the user's own, and the leaderboard, refreshed while the
// page is shown.
type page struct {
	env   *ui.Env
	tasks *ui.Tasks
	keys  keys

	lists  ui.Lists // as the server sent them
	loaded bool
	games  [paneScores][]*pb.Game // filtered and sorted, as shown
	// pane has the focus; cursors select a game in each pane.
	pane    int
	cursors [panes]cursor
	filter  textinput.Model
	// variant is that of the leaderboard, empty for the selected game's.
	variant string
	window  int // index of windows
	moves   int // counts the changes of what is selected

	preview preview
	form    *form // of a new game, nil if it is closed
	// hidden is set while another page is shown. cycle counts the times that the page was
	// shown: the refresh timers of earlier ones are void.
	hidden bool
	cycle  int
	// problem is why the lists are old; notice and done are replies to a key.
	problem, notice, done string
}

// New returns the lobby.
func New(ctx context.Context, env *ui.Env) ui.Page {
	filter := textinput.New()
	filter.Prompt, filter.CharLimit = "", 26
	filter.SetWidth(27)
	return &page{env: env, tasks: ui.NewTasks(ctx), keys: newKeys(), filter: filter, cycle: 1}
}

// The messages of the lobby's tasks.
type (
	// listsMsg brings the lists; cycle is 0 if a key asked for them.
	listsMsg struct {
		lists ui.Lists
		err   error
		cycle int
	}
	refreshMsg struct{ cycle int }
	// staleMsg comes when the leaderboard has been stale for a while; moves is the page's of
	// then.
	staleMsg struct{ moves int }
	// previewMsg comes when a game was selected for long enough to be watched.
	previewMsg struct{ id string }
)

// Init implements ui.Page.
func (p *page) Init() tea.Cmd { return p.load(p.cycle) }

// Tasks implements ui.Page.
func (p *page) Tasks() *ui.Tasks { return p.tasks }

// Farewell implements ui.Page.
func (p *page) Farewell() string { return "" }

// Typing implements ui.Typing.
func (p *page) Typing() bool { return p.filter.Focused() }

// load asks for the lists.
func (p *page) load(cycle int) tea.Cmd {
	me, variant, window := p.env.Me, p.board(), windows[p.window].window
	known := p.lists.Variants
	return p.tasks.Do(func(ctx context.Context) tea.Msg {
		lists, err := p.env.Server.Lists(ctx, me, variant, window, known)
		return listsMsg{lists: lists, err: err, cycle: cycle}
	})
}

// board is the variant of the leaderboard.
func (p *page) board() string {
	return cmp.Or(p.variant, p.current().GetVariant(), "classic")
}

// Update implements ui.Page.
func (p *page) Update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case tea.KeyPressMsg:
		p.notice, p.done = "", ""
		return p.key(msg)
	case listsMsg:
		return p.listed(msg)
	case refreshMsg:
		if p.hidden || msg.cycle != p.cycle {
			return nil
		}
		return p.load(p.cycle)
	case staleMsg:
		if msg.moves != p.moves || !p.stale() || p.hidden {
			return nil
		}
		return p.load(0)
	case ui.ResumedMsg:
		return p.resume()
	case previewMsg:
		return p.preview.watch(msg.id, p.env, p.tasks)
	case ui.UpdateMsg:
		cmd := p.preview.update(msg, p.env, p.tasks)
		p.refreshRow()
		return cmd
	}
	if p.filter.Focused() {
		var cmd tea.Cmd
		p.filter, cmd = p.filter.Update(msg)
		return cmd
	}
	return nil
}

// open opens another page. While that is shown, the lobby asks the server for nothing.
func (p *page) open(r ui.Route) tea.Cmd {
	p.hidden = true
	p.preview.leave()
	return ui.Open(r)
}

// resume continues what open stopped.
func (p *page) resume() tea.Cmd {
	if !p.hidden {
		return nil
	}
	p.hidden, p.preview = false, preview{}
	p.cycle++
	return tea.Batch(p.load(p.cycle), p.follow())
}

// listed handles the reply with the lists.
func (p *page) listed(msg listsMsg) tea.Cmd {
	var again tea.Cmd
	if msg.cycle == p.cycle && !p.hidden {
		again = p.tasks.After(refreshTime, refreshMsg{p.cycle})
	}
	if msg.err != nil {
		p.problem = ui.Explain(msg.err, "Retrying …")
		return again
	}
	first := !p.loaded
	p.problem, p.lists, p.loaded = "", msg.lists, true
	p.arrange()
	if first && len(p.games[paneLive]) == 0 && len(p.games[paneMine]) > 0 {
		p.pane = paneMine
	}
	return tea.Batch(again, p.selected())
}

// arrange filters and sorts the lists; the cursors stay on their games.
func (p *page) arrange() {
	p.games[paneLive] = order(p.filtered(p.lists.Live), p.env.Now)
	p.games[paneMine] = runningFirst(p.filtered(p.lists.Mine))
	for pane, games := range p.games {
		ids := make([]string, 0, len(games))
		for _, g := range games {
			ids = append(ids, g.GetId())
		}
		p.cursors[pane].set(ids)
	}
	var ids []string
	for _, e := range p.lists.Scores {
		ids = append(ids, e.GetGameId())
	}
	p.cursors[paneScores].set(ids)
}

// refreshRow shows the previewed game in its rows as it is in the preview, which is newer.
func (p *page) refreshRow() {
	for _, games := range p.games {
		for i, g := range games {
			if newer := p.preview.state.Game.Game; newer.GetVersion() > g.GetVersion() && newer.GetId() == g.GetId() {
				games[i] = newer
			}
		}
	}
}

// filtered are the games whose variant, players or id contain the filter.
func (p *page) filtered(games []*pb.Game) []*pb.Game {
	want := strings.ToLower(p.filter.Value())
	var kept []*pb.Game
	for _, g := range games {
		if strings.Contains(strings.ToLower(g.GetVariant()+" "+gamestate.PlayerName(g)+" "+g.GetId()), want) {
			kept = append(kept, g)
		}
	}
	return kept
}

// current is the selected game of the list with the focus, or of the live ones beside the
// leaderboard; nil for none.
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

// selected follows a change of what is selected, or shown of the leaderboard.
func (p *page) selected() tea.Cmd {
	cmd := p.follow()
	if p.stale() {
		p.moves++
		cmd = tea.Batch(cmd, p.tasks.After(settleTime, staleMsg{p.moves}))
	}
	return cmd
}

// stale reports whether the leaderboard is another than the one to show.
func (p *page) stale() bool {
	return p.loaded && (p.board() != p.lists.Variant || windows[p.window].window != p.lists.Window)
}

// follow shows the selected game in the preview, and watches it a little later.
func (p *page) follow() tea.Cmd {
	g := p.current()
	if g.GetId() == p.preview.id {
		return nil
	}
	p.preview.show(g, p.env.Now)
	if g == nil || p.hidden {
		return nil
	}
	return p.tasks.After(settleTime, previewMsg{g.GetId()})
}

// variantOf returns the variant with an id, nil if the server offers none.
func variantOf(variants []*pb.Variant, id string) *pb.Variant {
	for _, v := range variants {
		if v.GetId() == id {
			return v
		}
	}
	return nil
}

// clean is a short text of a server, safe for a terminal.
func clean(text string) string { return client.CleanText(text, textLimit) }
