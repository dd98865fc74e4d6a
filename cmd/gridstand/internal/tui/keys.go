package tui

import (
	"strings"

	"charm.land/bubbles/v2/help"
	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// commonKeys are the keys of every screen. Each screen has a struct of its keys
// around them, from which keys are matched and the help is made.
type commonKeys struct {
	Help, Leave, Interrupt, Suspend, Close key.Binding
}

func newCommonKeys() commonKeys {
	return commonKeys{
		Help:      bind("?", "help", "?"),
		Leave:     bind("q", "quit", "q"),
		Interrupt: bind("ctrl-c", "leave at once", "ctrl+c"),
		Suspend:   bind("ctrl-z", "suspend", "ctrl+z"),
		Close:     bind("esc", "close", "esc", "q", "enter", "space"),
	}
}

// playKeys are the keys of a game that one plays.
type playKeys struct {
	commonKeys
	Move, Up, Down, Left, Right key.Binding
	New, Undo, Restart          key.Binding
	// The solvers, and their pace.
	Solvers, Greedy, Rote, MonteCarlo, Expectimax key.Binding
	Faster, Slower                                key.Binding
	Yes, No                                       key.Binding
}

func newPlayKeys() *playKeys {
	return &playKeys{
		commonKeys: newCommonKeys(),
		Move:       bind("↑↓←→", "move", "up", "down", "left", "right"),
		Up:         bind("↑ w k", "up", "up", "w", "k"),
		Down:       bind("↓ s j", "down", "down", "s", "j"),
		Left:       bind("← a h", "left", "left", "a", "h"),
		Right:      bind("→ d l", "right", "right", "d", "l"),
		New:        bind("n S", "new game", "n", "S"),
		Undo:       bind("u", "undo", "u"),
		Restart:    bind("R", "restart", "R"),
		Solvers:    bind("X Y Z B", "solvers"),
		Greedy:     bind("X", "greedy plays", "X"),
		Rote:       bind("Y", "rote plays", "Y"),
		MonteCarlo: bind("Z", "Monte Carlo plays", "Z"),
		Expectimax: bind("B", "expectimax plays", "B"),
		Faster:     bind("+", "solver faster", "+", "="),
		Slower:     bind("-", "solver slower", "-"),
		Yes:        bind("y", "yes", "y", "Y", "enter"),
		No:         bind("n", "no", "n", "N", "esc", "q"),
	}
}

// ShortHelp implements help.KeyMap.
func (k *playKeys) ShortHelp() []key.Binding {
	return []key.Binding{k.Move, bind("n", "new"), k.Undo, k.Solvers, k.Help, k.Leave}
}

// solverKeys are those that work while a solver plays.
type solverKeys struct{ *playKeys }

// ShortHelp implements help.KeyMap.
func (k solverKeys) ShortHelp() []key.Binding {
	return []key.Binding{k.Faster, k.Slower, bind("any other key", "you play on")}
}

// FullHelp implements help.KeyMap.
func (k *playKeys) FullHelp() [][]key.Binding {
	return [][]key.Binding{
		{k.Up, k.Down, k.Left, k.Right, k.Undo, k.Restart, k.New},
		{k.Greedy, k.Rote, k.MonteCarlo, k.Expectimax, k.Faster, k.Slower},
		{k.Leave, k.Help, k.Suspend, k.Interrupt},
	}
}

// direction returns the move that a key means.
func (k *playKeys) direction(msg tea.KeyPressMsg) (pb.Direction, bool) {
	switch {
	case pressed(msg, k.Up):
		return pb.Direction_DIRECTION_UP, true
	case pressed(msg, k.Down):
		return pb.Direction_DIRECTION_DOWN, true
	case pressed(msg, k.Left):
		return pb.Direction_DIRECTION_LEFT, true
	case pressed(msg, k.Right):
		return pb.Direction_DIRECTION_RIGHT, true
	default:
		return pb.Direction_DIRECTION_UNSPECIFIED, false
	}
}

// watchKeys are the keys of a game that one watches.
type watchKeys struct {
	commonKeys
	Next                       key.Binding // only where there is a next one
	Step                       key.Binding
	Back, Forward, Pause, Live key.Binding
}

func newWatchKeys(tv bool) *watchKeys {
	k := &watchKeys{
		commonKeys: newCommonKeys(), Next: bind("n", "next game", "n"),
		Step: bind("← →", "step"),
		Back: bind("←", "step back", "left", "h"), Forward: bind("→", "step forward", "right"),
		Pause: bind("space", "pause", "space"), Live: bind("l", "live", "l"),
	}
	k.Next.SetEnabled(tv)
	return k
}

// ShortHelp implements help.KeyMap.
func (k *watchKeys) ShortHelp() []key.Binding {
	return []key.Binding{k.Next, k.Step, k.Pause, k.Live, k.Help, k.Leave}
}

// FullHelp implements help.KeyMap.
func (k *watchKeys) FullHelp() [][]key.Binding {
	return [][]key.Binding{{k.Back, k.Forward, k.Pause, k.Live}, {k.Next, k.Leave, k.Help, k.Suspend, k.Interrupt}}
}

// bind makes a binding that reads as name and what in the help.
func bind(name, what string, keys ...string) key.Binding {
	if len(keys) == 0 {
		keys = []string{} // for the help alone
	}
	return key.NewBinding(key.WithKeys(keys...), key.WithHelp(name, what))
}

func pressed(msg tea.KeyPressMsg, b key.Binding) bool { return key.Matches(msg, b) }

// helpModel is the help in the theme's colours.
func (b *base) helpModel() help.Model {
	h := help.New()
	h.ShortSeparator = "   "
	accent, dim, faint := b.theme.accent(), b.theme.dim(), b.theme.faint()
	h.Styles = help.Styles{
		Ellipsis: faint,
		ShortKey: accent, ShortDesc: dim, ShortSeparator: faint,
		FullKey: accent, FullDesc: dim, FullSeparator: faint,
	}
	return h
}

// helpBar is the line of keys at the bottom. Where it is too long it loses the
// first ones: those that leave are the last.
func (b *base) helpBar(keys help.KeyMap) string {
	h, short := b.helpModel(), keys.ShortHelp()
	for len(short) > 1 && ansi.StringWidth(h.ShortHelpView(short)) > b.width {
		short = short[1:]
	}
	return h.ShortHelpView(short)
}

// helpBox is the table of all keys. Where its columns do not fit side by side
// it has one, and where that is too high the keys follow each other in lines.
func (b *base) helpBox(keys help.KeyMap) string {
	const frameWidth, frameHeight = 4, 4
	h := b.helpModel()
	groups := keys.FullHelp()
	table := h.FullHelpView(groups)
	if width, _ := blockSize(table); width+frameWidth+2 > b.width {
		var all []key.Binding
		for _, g := range groups {
			all = append(all, g...)
		}
		table = h.FullHelpView([][]key.Binding{all})
		if _, height := blockSize(table); height+frameHeight > b.height-barRows {
			table = flow(h, all, b.width-frameWidth)
		}
	}
	return b.box("Keys", lipgloss.PlaceHorizontal(lipgloss.Width(table), lipgloss.Left, table))
}

// flow writes keys one after the other into lines of at most width columns.
func flow(h help.Model, keys []key.Binding, width int) string {
	var lines []string
	line := 0 // width of the last line
	for _, k := range keys {
		if !k.Enabled() {
			continue
		}
		text := h.ShortHelpView([]key.Binding{k})
		n := ansi.StringWidth(text)
		if len(lines) == 0 || line+2+n > width {
			lines, line = append(lines, text), n
			continue
		}
		lines[len(lines)-1] += "  " + text
		line += 2 + n
	}
	return strings.Join(lines, "\n")
}
