package lobby

import (
	"cmp"
	"slices"

	tea "charm.land/bubbletea/v2"

	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/gamestate"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/ui"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// Keys implements ui.Page.
func (p *page) Keys() ui.KeyTable {
	player := p.env.WatchOnly == ""
	selects := func(do func()) func() tea.Cmd { return func() tea.Cmd { do(); return p.selected() } }
	cursor := &p.cursors[p.pane]
	moves := func(rows int) func() tea.Cmd { return selects(func() { cursor.move(rows) }) }
	opens := func(r ui.Route) func() tea.Cmd { return ui.Run(ui.Open(r)) }
	begin := func(race bool) func() tea.Cmd { return func() tea.Cmd { return p.askNew(race) } }
	what, route := p.opens()
	period := ui.On("right", "← →", "day, week, all", true, selects(func() { p.turn(0, 1) }))
	variant := ui.On("v", "v", "variant", true, selects(p.nextVariant))
	if p.pane == paneScores {
		period, variant = period.FooterAs(5, "← →", "period"), variant.Footer(6)
	}
	return ui.KeyTable{
		{
			ui.On("d", "d", "daily game", p.daily.GetChallenge() != nil, opens(p.dailyRoute())),
			ui.On("n", "n", "new game", player, begin(false)).FooterAs(2, "n", "new"),
			ui.On("s", "s", "race somebody now", player, opens(ui.Route{NewChallenge: &ui.NewChallenge{}})).FooterAs(8, "s", "race"),
			ui.On("R", "R", "new race", player, begin(true)),
			ui.On("enter", "enter", cmp.Or(what, "open"), what != "", opens(route)).Footer(1),
			ui.On("t", "t", "TV", true, opens(ui.Route{TV: true})).Footer(9),
			ui.On("w", "w", "wall of four games", true, opens(ui.Route{Wall: true})),
			ui.On("r", "r", "rules", true, opens(ui.Route{Rules: p.chosen()})).Footer(10),
		},
		{
			ui.On("up k", "↑ ↓ k j", "select", cursor.id() != "", moves(-1)).FooterAs(4, "↑ ↓", "select"),
			ui.On("pgup", "PgUp PgDn", "10 rows", true, moves(-screenful)),
			ui.On("home", "Home End", "first, last row", true, moves(-len(cursor.ids))),
			ui.On("tab", "tab", "next list", true, selects(func() { p.turn(1, 0) })).FooterAs(3, "tab", "list"),
			period, variant,
			ui.On("q", "q", "quit", true, ui.Run(ui.Back)),
		},
		{
			ui.Unlisted("down j", moves(1)),
			ui.Unlisted("pgdown", moves(screenful)),
			ui.Unlisted("end", moves(len(cursor.ids))),
			ui.Unlisted("shift+tab", selects(func() { p.turn(panes-1, 0) })),
			ui.Unlisted("left", selects(func() { p.turn(0, len(windows)-1) })),
			ui.Unlisted("n s R", func() tea.Cmd { return p.Refuse(p.env.WatchOnly) }), // for players, they are above
		},
	}
}

// screenful is the number of rows that PgUp and PgDn move the cursor.
const screenful = 10

// turn changes the focused list and the leaderboard's period.
func (p *page) turn(pane, window int) {
	p.pane, p.window = (p.pane+pane)%panes, (p.window+window)%len(windows)
}

// opens returns the label of the Enter key and the route that it opens.
func (p *page) opens() (what string, r ui.Route) {
	if p.pane == paneScores {
		if id := p.cursors[paneScores].id(); id != "" {
			return "replay", ui.Route{Watch: []string{id}, Replay: true}
		}
		return "", r
	}
	g := p.current()
	waiting := gamestate.Waits(g)
	switch {
	case g == nil:
		return "", r
	case isRace(g) && p.env.WatchOnly == "" && p.env.Seated(g):
		return "open", ui.Route{Enter: g.GetId()}
	case isRace(g) && p.env.WatchOnly == "" && waiting:
		return "join", ui.Route{Enter: g.GetId()}
	case isRace(g):
		return "watch", ui.Route{Challenge: g.GetId()}
	case g.GetStatus() == pb.GameStatus_GAME_STATUS_FINISHED:
		return "replay", ui.Route{Watch: []string{g.GetId()}, Replay: true}
	case p.env.Seated(g):
		return "play", ui.PlayOn(g)
	case waiting && p.env.WatchOnly == "":
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

func (p *page) nextVariant() {
	all, board := p.lists.Variants, p.board()
	if i := slices.IndexFunc(all, func(v *pb.Variant) bool { return v.GetId() == board }); i >= 0 {
		p.variant = all[(i+1)%len(all)].GetId()
	}
}
