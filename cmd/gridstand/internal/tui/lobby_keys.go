package tui

import "charm.land/bubbles/v2/key"

// lobbyKeys are the keys of the lobby.
type lobbyKeys struct {
	commonKeys
	Select, Up, Down, Pane, PaneBack, Window, Variant key.Binding
	Open, New, Join, TV, Filter                       key.Binding
}

func newLobbyKeys() *lobbyKeys {
	return &lobbyKeys{
		commonKeys: newCommonKeys(),
		Select:     bind("↑↓", "select"),
		Up:         bind("↑", "up", "up"), Down: bind("↓", "down", "down"),
		Pane: bind("tab", "next pane", "tab"), PaneBack: bind("shift-tab", "pane before", "shift+tab"),
		Window: bind("← →", "day, week, all", "left", "right"), Variant: bind("v", "next leaderboard", "v"),
		Open: bind("enter", "open", "enter"), New: bind("n", "new game", "n"),
		Join: bind("j", "join", "j"), TV: bind("t", "TV", "t"), Filter: bind("/", "filter", "/"),
	}
}

// ShortHelp implements help.KeyMap.
func (k *lobbyKeys) ShortHelp() []key.Binding {
	return []key.Binding{k.Select, k.Pane, k.Open, k.New, k.Join, k.TV, k.Filter, k.Help, k.Leave}
}

// FullHelp implements help.KeyMap.
func (k *lobbyKeys) FullHelp() [][]key.Binding {
	return [][]key.Binding{
		{k.Up, k.Down, k.Pane, k.PaneBack, bind("enter", "watch, or play on"), k.New, k.Join, k.TV, k.Filter},
		{k.Window, k.Variant, k.Leave, k.Help, k.Suspend, k.Interrupt},
	}
}
