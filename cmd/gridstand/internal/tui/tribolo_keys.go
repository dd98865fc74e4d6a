package tui

import (
	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// triboloKeys are the keys of a game of Tribolo that one plays.
type triboloKeys struct {
	commonKeys
	Move, Up, Down, Left, Right key.Binding
	Jump, Hints                 key.Binding
	New, Undo, Restart          key.Binding
	Yes, No                     key.Binding
}

func newTriboloKeys() *triboloKeys {
	play := newPlayKeys()
	k := &triboloKeys{
		commonKeys: newCommonKeys("quit"),
		Move:       bind("↑↓←→", "cursor"),
		Up:         play.Up, Down: play.Down, Left: play.Left, Right: play.Right,
		Jump:  bind("enter", "jump", "enter", "space"),
		Hints: bind("?", "where to", "?"),
		New:   bind("n", "new game", "n"),
		Undo:  bind("u", "undo", "u"), Restart: bind("R", "restart", "R"),
		Yes: play.Yes, No: play.No,
	}
	k.Help = bind("i", "keys", "i", "f1")
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

// direction returns where a key moves the cursor.
func (k *triboloKeys) direction(msg tea.KeyPressMsg) (pb.Direction, bool) {
	return (&playKeys{Up: k.Up, Down: k.Down, Left: k.Left, Right: k.Right}).direction(msg)
}
