package tui

import (
	"charm.land/bubbles/v2/key"
)

// triboloKeys are the keys of a game of Tribolo that one plays.
type triboloKeys struct {
	*playKeys
	Jump, Hints key.Binding
}

func newTriboloKeys() *triboloKeys {
	k := &triboloKeys{
		playKeys: newPlayKeys(),
		Jump:     bind("enter", "jump", "enter", "space"),
		Hints:    bind("?", "where to", "?"),
	}
	k.Move, k.New, k.Help = bind("↑↓←→", "cursor"), bind("n", "new game", "n"), bind("i", "keys", "i", "f1")
	return k
}

// solo makes the keys work that take something back, or not.
func (k *triboloKeys) solo(alone bool) {
	k.Undo.SetEnabled(alone)
	k.Restart.SetEnabled(alone)
}

// ShortHelp implements help.KeyMap.
func (k *triboloKeys) ShortHelp() []key.Binding {
	return []key.Binding{k.Move, k.Jump, k.Hints, k.Undo, k.New, k.Help, k.Leave}
}

// FullHelp implements help.KeyMap.
func (k *triboloKeys) FullHelp() [][]key.Binding {
	return [][]key.Binding{
		{k.Up, k.Down, k.Left, k.Right, bind("enter click", "jump"), k.Hints},
		{k.Undo, k.Restart, k.New, k.Leave, k.Help, k.Suspend, k.Interrupt},
	}
}
