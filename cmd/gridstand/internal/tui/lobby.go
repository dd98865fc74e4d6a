package tui

import (
	"context"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/gridstand/gridstand/client"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// refreshTime is the time from one look at the lists to the next.
const refreshTime = 2 * time.Second

// LobbyConfig says who is in the lobby.
type LobbyConfig struct {
	// Me is the id of the player's account, empty while there is none.
	Me string
	// Problem is what went wrong before, empty for nothing.
	Problem string
	// Clock tells the time; nil is the system's.
	Clock func() time.Time
}

// Choice is what the user wants to do next. At most one of its fields is set,
// but that Options belong to Variant; where none is, he wants to leave.
type Choice struct {
	// Watch, Play and Join are ids of games.
	Watch, Play, Join string
	// TV asks for one live game after the other.
	TV bool
	// Variant of a new game, and its Options.
	Variant string
	Options client.GameOptions
}

// The panes of the lobby.
const (
	paneLive = iota
	paneMine
	paneScores
	panes
)

// windowsOfScores are those of the leaderboard, in the order of the lobby.
var windowsOfScores = []struct {
	window pb.Window
	name   string
}{{pb.Window_WINDOW_DAY, "day"}, {pb.Window_WINDOW_WEEK, "week"}, {pb.Window_WINDOW_ALL_TIME, "all time"}}

// Lobby is the screen on which one chooses what to play or to watch: live
// games, one's own, and the leaderboard, which keep themselves up to date.
type Lobby struct {
	base
	keys   *lobbyKeys
	server Server
	me     string

	lists  Lists
	loaded bool
	// pane has the focus; selected are the games chosen in the panes by id.
	pane     int
	selected [panes]string
	// filter is what a game's variant or players must contain; typing is set
	// while it is entered.
	filter string
	typing bool
	// variant is that of the leaderboard, empty for the selected game's.
	variant string
	window  int

	// preview is the selected game, live.
	preview      match
	previewID    string
	leavePreview context.CancelFunc

	dialog  *newGame
	choice  Choice
	problem string
}

// Lists are what the lobby shows.
type Lists struct {
	Variants []*pb.Variant
	// Live games, those that wait for players first.
	Live []*pb.Game
	// Mine are the player's own, the latest first.
	Mine []*pb.Game
	// Scores is the leaderboard of Variant and Window.
	Scores  []*pb.Entry
	Variant string
	Window  pb.Window
}

// NewLobby makes the screen. Its commands end with ctx.
func NewLobby(ctx context.Context, server Server, c LobbyConfig) *Lobby {
	return &Lobby{
		base: newBase(ctx, c.Clock), keys: newLobbyKeys(), server: server, me: c.Me,
		problem: c.Problem, preview: newMatch(nil),
	}
}

// Choice is what the user chose.
func (l *Lobby) Choice() Choice { return l.choice }

// Farewell implements Screen.
func (l *Lobby) Farewell() string { return "" }

type (
	listsMsg struct {
		lists Lists
		err   error
		// once is set for a look out of turn.
		once bool
	}
	refreshMsg struct{}
)

// Init implements tea.Model.
func (l *Lobby) Init() tea.Cmd { return tea.Batch(l.start(), l.load(false)) }

// load asks for the lists.
func (l *Lobby) load(once bool) tea.Cmd {
	me, variant, window := l.me, l.scoresOf(), windowsOfScores[l.window].window
	known := l.lists.Variants
	return l.tasks.do(func(ctx context.Context) tea.Msg {
		lists, err := l.server.Lists(ctx, me, variant, window, known)
		return listsMsg{lists: lists, err: err, once: once}
	})
}

// scoresOf is the variant whose leaderboard is shown.
func (l *Lobby) scoresOf() string {
	if l.variant != "" {
		return l.variant
	}
	if g := l.current(); g != nil {
		return g.GetVariant()
	}
	return "classic"
}

// Update implements tea.Model.
func (l *Lobby) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	if cmd, done := l.take(msg); done {
		return l, cmd
	}
	switch msg := msg.(type) {
	case tea.KeyPressMsg:
		return l, l.key(msg)
	case listsMsg:
		return l, l.listed(msg)
	case refreshMsg:
		return l, l.load(false)
	case updateMsg:
		if msg.gameID == l.previewID && msg.err == nil {
			l.preview.update(msg.update, l.now)
			return l, next(l.tasks, msg.gameID, msg.stream)
		}
	}
	return l, nil
}

// listed takes in the lists.
func (l *Lobby) listed(msg listsMsg) tea.Cmd {
	var again tea.Cmd
	if !msg.once {
		again = l.tasks.after(refreshTime, refreshMsg{})
	}
	if msg.err != nil {
		l.problem = plainly(msg.err, "Asking again …")
		return again
	}
	if l.loaded {
		l.problem = ""
	}
	first := !l.loaded
	l.lists, l.loaded = msg.lists, true
	if first && len(l.games(paneLive)) == 0 && len(l.games(paneMine)) > 0 {
		l.pane = paneMine
	}
	more := l.follow()
	if l.scoresOf() != msg.lists.Variant || windowsOfScores[l.window].window != msg.lists.Window {
		more = tea.Batch(more, l.load(true))
	}
	return tea.Batch(again, more)
}

// games are those of a pane that the filter lets through.
func (l *Lobby) games(pane int) []*pb.Game {
	all := l.lists.Live
	if pane == paneMine {
		all = l.lists.Mine
	}
	if l.filter == "" {
		return all
	}
	var kept []*pb.Game
	for _, g := range all {
		if strings.Contains(strings.ToLower(g.GetVariant()+" "+PlayerName(g)+" "+g.GetId()), strings.ToLower(l.filter)) {
			kept = append(kept, g)
		}
	}
	return kept
}

// at is the place of the selected game in its pane; the first where it is
// gone.
func (l *Lobby) at(pane int) int {
	return max(slices.IndexFunc(l.games(pane), func(g *pb.Game) bool { return g.GetId() == l.selected[pane] }), 0)
}

// current is the selected game of the pane that has the focus, or of the live
// ones; nil for none.
func (l *Lobby) current() *pb.Game {
	pane := l.pane
	if pane == paneScores {
		pane = paneLive
	}
	if games := l.games(pane); len(games) > 0 {
		return games[l.at(pane)]
	}
	return nil
}

// follow watches the selected game, for its picture.
func (l *Lobby) follow() tea.Cmd {
	g := l.current()
	if g.GetId() == l.previewID {
		return nil
	}
	if l.leavePreview != nil {
		l.leavePreview()
	}
	l.previewID, l.leavePreview, l.preview = g.GetId(), nil, newMatch(g)
	if g == nil {
		return nil
	}
	ctx, cancel := context.WithCancel(l.tasks.ctx)
	l.leavePreview = cancel
	return next(l.tasks, g.GetId(), l.server.Watch(ctx, g.GetId(), nil))
}

// key handles a key.
func (l *Lobby) key(msg tea.KeyPressMsg) tea.Cmd {
	if l.typing {
		if pressed(msg, l.keys.Interrupt) {
			l.interrupted = true
			return tea.Quit
		}
		return l.typed(msg)
	}
	if cmd, done := l.takeKey(msg, &l.keys.commonKeys); done {
		return cmd
	}
	k := l.keys
	switch {
	case l.help:
		return nil
	case l.dialog != nil:
		return l.inDialog(msg)
	case pressed(msg, k.Leave):
		return tea.Quit
	case pressed(msg, k.Up):
		return l.move(-1)
	case pressed(msg, k.Down):
		return l.move(1)
	case pressed(msg, k.Pane):
		l.pane = (l.pane + 1) % panes
		return l.moved()
	case pressed(msg, k.PaneBack):
		l.pane = (l.pane + panes - 1) % panes
		return l.moved()
	case pressed(msg, k.Window):
		n := 1
		if msg.Code == tea.KeyLeft {
			n = len(windowsOfScores) - 1
		}
		l.window = (l.window + n) % len(windowsOfScores)
		return l.load(true)
	case pressed(msg, k.Variant):
		return l.nextVariant()
	case pressed(msg, k.Filter):
		l.typing = true
	case pressed(msg, k.TV):
		return l.leave(Choice{TV: true})
	case pressed(msg, k.New):
		if len(l.lists.Variants) > 0 {
			l.dialog = newDialog(l.lists.Variants, l.scoresOf())
		}
	case pressed(msg, k.Join):
		return l.join()
	case pressed(msg, k.Open):
		return l.open()
	}
	return nil
}

// leave ends the screen with a choice.
func (l *Lobby) leave(c Choice) tea.Cmd {
	l.choice = c
	return tea.Quit
}

// move selects another game.
func (l *Lobby) move(n int) tea.Cmd {
	if l.pane == paneScores {
		return nil
	}
	games := l.games(l.pane)
	if len(games) == 0 {
		return nil
	}
	l.selected[l.pane] = games[min(max(l.at(l.pane)+n, 0), len(games)-1)].GetId()
	return l.moved()
}

// moved follows a change of what is selected.
func (l *Lobby) moved() tea.Cmd {
	cmd := l.follow()
	if l.loaded && l.scoresOf() != l.lists.Variant {
		cmd = tea.Batch(cmd, l.load(true))
	}
	return cmd
}

// nextVariant shows the leaderboard of the next one.
func (l *Lobby) nextVariant() tea.Cmd {
	all := l.lists.Variants
	if len(all) == 0 {
		return nil
	}
	i := slices.IndexFunc(all, func(v *pb.Variant) bool { return v.GetId() == l.scoresOf() })
	l.variant = all[(i+1)%len(all)].GetId()
	return l.load(true)
}

// typed handles a key of the filter.
func (l *Lobby) typed(msg tea.KeyPressMsg) tea.Cmd {
	switch {
	case msg.Code == tea.KeyEnter:
		l.typing = false
	case msg.Code == tea.KeyEscape:
		l.typing, l.filter = false, ""
	case msg.Code == tea.KeyBackspace:
		runes := []rune(l.filter)
		l.filter = string(runes[:max(len(runes)-1, 0)])
	default:
		l.filter = client.CleanText(l.filter+msg.Text, 26)
	}
	return l.moved()
}

// seated reports whether the player sits in a game.
func (l *Lobby) seated(g *pb.Game) bool {
	return l.me != "" && slices.ContainsFunc(g.GetSeats(), func(s *pb.Seat) bool { return s.GetPlayer().GetId() == l.me })
}

// open watches the selected game, or plays on, or takes a seat in it.
func (l *Lobby) open() tea.Cmd {
	g := l.current()
	switch {
	case l.pane == paneScores && len(l.lists.Scores) > 0:
		return l.leave(Choice{Watch: l.lists.Scores[0].GetGameId()})
	case g == nil:
		return nil
	case g.GetStatus() == pb.GameStatus_GAME_STATUS_FINISHED:
		return l.leave(Choice{Watch: g.GetId()})
	case l.seated(g):
		return l.leave(Choice{Play: g.GetId()})
	case g.GetStatus() == pb.GameStatus_GAME_STATUS_WAITING:
		return l.leave(Choice{Join: g.GetId()})
	default:
		return l.leave(Choice{Watch: g.GetId()})
	}
}

// join takes a seat in the selected game, or in the first that waits.
func (l *Lobby) join() tea.Cmd {
	games := l.games(paneLive)
	if g := l.current(); g != nil {
		games = append([]*pb.Game{g}, games...)
	}
	for _, g := range games {
		if g.GetStatus() == pb.GameStatus_GAME_STATUS_WAITING && !l.seated(g) {
			return l.leave(Choice{Join: g.GetId()})
		}
	}
	l.problem = "No game waits for you. n starts one."
	return nil
}
