package lobby

import (
	"cmp"
	"fmt"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/gamestate"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/ui"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// keys are the page's key bindings, apart from those that move the cursor.
var keys = struct {
	Pane, PaneBack, Window, Variant                        key.Binding
	Open, New, Join, TV, Follow, Filter, Rules, Copy, Quit key.Binding
	Clear, Daily, DayBefore, Race                          key.Binding
}{
	Pane: ui.Bind("tab", "next list", "tab"), PaneBack: ui.Bind("shift-tab", "previous list", "shift+tab"),
	Window: ui.Bind("← →", "day, week, all", "left", "right"), Variant: ui.Bind("v", "variant", "v"),
	Open: ui.Bind("enter", "open", "enter"), New: ui.Bind("n", "new game", "n"),
	Join: ui.Bind("j", "join", "j"), TV: ui.Bind("t", "TV", "t"), Filter: ui.Bind("/", "filter", "/"),
	Follow: ui.Bind("f", "follow player", "f"),
	Rules:  ui.Bind("r", "rules", "r"), Copy: ui.Bind("y", "copy id", "y"),
	Daily: ui.Bind("d", "daily game", "d"), DayBefore: ui.Bind("D", "yesterday's results", "D"), Race: ui.Bind("R", "new race", "R"),
	Quit: ui.Bind("q", "quit", "q"), Clear: ui.Bind("esc", "clear filter", "esc"),
}

func (p *page) Keys() ui.KeyMap {
	k := keys
	if p.form != nil {
		return p.form.keys()
	}
	if p.filter.Focused() {
		return ui.Keys(ui.Bind("enter", "keep the filter"), ui.Bind("esc", "clear it"))
	}
	what, _ := p.opens()
	enter := ui.Bind("enter", what)
	enter.SetEnabled(what != "")
	k.Daily.SetEnabled(p.daily.game != nil)
	k.DayBefore.SetEnabled(p.daily.hasDayBefore())
	choose := ui.Bind("↑ ↓", "select")
	short, own := []key.Binding{ui.Bind("tab", "list"), k.Filter, choose, k.TV, k.Rules}, []key.Binding{k.Daily, k.DayBefore, k.New, k.Race, k.Join}
	if p.env.Guest != "" {
		own = []key.Binding{k.Daily, k.DayBefore}
	} else {
		if p.waiting() != nil {
			short = append(short, k.Join)
		}
		short = append(short, ui.Bind("R", "race"), ui.Bind("n", "new"))
	}
	short = append(short, enter, ui.NewCommon().Help, k.Quit)
	return ui.KeyMap{Short: short, Full: [][]key.Binding{
		append(own, ui.Bind("enter", "open"), k.TV, k.Follow, k.Rules, k.Copy, k.Filter, k.Clear),
		{choose, ui.Bind("tab", "next list"), k.Window, k.Variant, k.Quit},
	}}
}

func (p *page) key(msg tea.KeyPressMsg) tea.Cmd {
	k := keys
	switch {
	case p.filter.Focused():
		return p.typed(msg)
	case p.form != nil:
		return p.inForm(msg)
	case ui.Pressed(msg, k.Quit):
		return ui.Back
	case ui.Pressed(msg, k.Pane):
		p.pane = (p.pane + 1) % panes
	case ui.Pressed(msg, k.PaneBack):
		p.pane = (p.pane + panes - 1) % panes
	case ui.Pressed(msg, k.Window):
		n := 1
		if msg.Code == tea.KeyLeft {
			n = len(windows) - 1
		}
		p.window = (p.window + n) % len(windows)
	case ui.Pressed(msg, k.Variant):
		p.nextVariant()
	case ui.Pressed(msg, k.Filter):
		p.filter.Focus()
		return nil
	case ui.Pressed(msg, k.Clear):
		p.filter.Reset()
		p.arrange()
	case ui.Pressed(msg, k.Copy):
		return p.copy()
	case ui.Pressed(msg, k.TV, k.Follow, k.Rules, k.New, k.Race, k.Join, k.Open, k.Daily, k.DayBefore):
		return p.leave(msg)
	default:
		p.move(msg)
	}
	return p.selected()
}

// move moves the focused list's cursor.
func (p *page) move(msg tea.KeyPressMsg) {
	const screenful = 10
	c := &p.cursors[p.pane]
	switch msg.String() {
	case "up":
		c.move(-1)
	case "down":
		c.move(1)
	case "pgup":
		c.move(-screenful)
	case "pgdown":
		c.move(screenful)
	case "home":
		c.move(-len(c.ids))
	case "end":
		c.move(len(c.ids))
	}
}

// leave handles the keys that open another page or the form.
func (p *page) leave(msg tea.KeyPressMsg) tea.Cmd {
	k := keys
	switch {
	case ui.Pressed(msg, k.TV):
		return p.open(ui.Route{TV: true})
	case ui.Pressed(msg, k.Daily):
		return p.openDaily()
	case ui.Pressed(msg, k.DayBefore):
		return p.loadDayBefore()
	case ui.Pressed(msg, k.Rules):
		return p.open(ui.Route{Rules: p.chosen()})
	case ui.Pressed(msg, k.Follow):
		if name := p.player(); name != "" {
			return p.open(ui.Route{Follow: name})
		}
		p.notice = "No player is selected."
		return nil
	case ui.Pressed(msg, k.Open):
		if what, route := p.opens(); what != "" {
			return p.open(route)
		}
		return nil
	case p.env.Guest != "": // n, R and j
		p.notice = p.env.Guest
		return nil
	case ui.Pressed(msg, k.Join):
		g := p.waiting()
		if g == nil {
			p.notice = "No game is waiting for players. Press n to start one."
			return nil
		}
		if isRace(g) {
			return p.open(ui.Route{Enter: g.GetId()})
		}
		return p.open(ui.Route{Join: g.GetId()})
	default: // n and R
		p.begin = func() {
			p.form = newForm(p.env, p.lists.Variants, p.chosen(), ui.Pressed(msg, k.Race))
			p.begin, p.notice = nil, ""
		}
		if len(p.lists.Variants) > 0 {
			p.begin()
		} else {
			p.notice = "Loading the variants …"
		}
		return nil
	}
}

// opens returns the label of the Enter key and the route that it opens.
func (p *page) opens() (what string, r ui.Route) {
	if p.pane == paneScores {
		if id := p.cursors[paneScores].id(); id != "" {
			return "replay", ui.Route{Replay: id}
		}
		return "", r
	}
	g := p.current()
	waiting := g.GetStatus() == pb.GameStatus_GAME_STATUS_WAITING
	switch {
	case g == nil:
		return "", r
	case isRace(g) && p.env.Guest == "" && p.env.Seated(g):
		return "open", ui.Route{Enter: g.GetId()}
	case isRace(g) && p.env.Guest == "" && waiting:
		return "join", ui.Route{Enter: g.GetId()}
	case isRace(g):
		return "watch", ui.Route{Challenge: g.GetId()}
	case g.GetStatus() == pb.GameStatus_GAME_STATUS_FINISHED:
		return "replay", ui.Route{Replay: g.GetId()}
	case p.env.Seated(g) && g.GetChallengeId() != "": // the challenge may not have started
		return "play", ui.Route{Enter: g.GetChallengeId()}
	case p.env.Seated(g):
		return "play", ui.Route{Play: g.GetId()}
	case waiting && p.env.Guest == "":
		return "join", ui.Route{Join: g.GetId()}
	default:
		return "watch", ui.Route{Watch: []string{g.GetId()}}
	}
}

// chosen returns the variant of the selected game, or of the leaderboard if it has the
// focus.
func (p *page) chosen() string {
	if p.pane == paneScores {
		return p.board()
	}
	return cmp.Or(p.current().GetVariant(), p.board())
}

// player returns the name of the first player of the selected row, or "".
func (p *page) player() string {
	if at := p.cursors[paneScores].at; p.pane == paneScores && at < len(p.lists.Scores) {
		return p.lists.Scores[at].GetPlayer().GetName()
	}
	for _, seat := range p.current().GetSeats() {
		if name := seat.GetPlayer().GetName(); name != "" {
			return name
		}
	}
	return ""
}

// waiting returns the game to join, or nil: the selected game if it is waiting for players,
// otherwise the first one that is. It skips games in which the user has a seat.
func (p *page) waiting() *pb.Game {
	for _, g := range append([]*pb.Game{p.current()}, p.games[paneLive]...) { // the current one may be nil
		if g.GetStatus() == pb.GameStatus_GAME_STATUS_WAITING && !p.env.Seated(g) {
			return g
		}
	}
	return nil
}

// copy copies the selected game's id to the terminal's clipboard.
func (p *page) copy() tea.Cmd {
	id := p.cursors[p.pane].id()
	if id == "" {
		return nil
	}
	p.done = fmt.Sprintf("Copied the id of game %s.", gamestate.ShortID(id))
	return tea.SetClipboard(id)
}

func (p *page) nextVariant() {
	for i, v := range p.lists.Variants {
		if v.GetId() == p.board() {
			p.variant = p.lists.Variants[(i+1)%len(p.lists.Variants)].GetId()
			return
		}
	}
}

func (p *page) typed(msg tea.KeyPressMsg) tea.Cmd {
	var cmd tea.Cmd
	switch msg.Code {
	case tea.KeyEnter:
		p.filter.Blur()
	case tea.KeyEscape:
		p.filter.Blur()
		p.filter.Reset()
	case tea.KeyUp, tea.KeyDown:
		p.move(msg)
	default:
		p.filter, cmd = p.filter.Update(msg)
	}
	p.arrange()
	return tea.Batch(cmd, p.selected())
}

func (p *page) inForm(msg tea.KeyPressMsg) tea.Cmd {
	k := keys
	switch {
	case ui.Pressed(msg, k.Clear, k.Quit):
		p.form = nil
	case ui.Pressed(msg, k.Open):
		route := p.form.route()
		p.form = nil
		return p.open(route)
	case ui.Pressed(msg, k.Rules):
		return p.open(ui.Route{Rules: p.form.variant})
	default:
		return p.form.update(msg)
	}
	return nil
}
