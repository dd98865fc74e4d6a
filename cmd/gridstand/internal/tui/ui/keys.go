package ui

import (
	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"
)

// Common are the keys that the program handles on every page.
type Common struct{ Help, Back, Interrupt, Suspend key.Binding }

// BackText says what a key does that closes the page. On the program's last page the
// frame shows it as "quit".
const BackText = "back"

// NewCommon returns the keys of every page.
func NewCommon() Common {
	return Common{
		Help:      Bind("?", "help", "?", "f1"),
		Back:      Bind("q", BackText, "q"),
		Interrupt: Bind("ctrl-c", "leave the program", "ctrl+c"),
		Suspend:   Bind("ctrl-z", "suspend", "ctrl+z"),
	}
}

// KeyMap has the keys of the footer, and those of the help in groups.
type KeyMap struct {
	Short []key.Binding
	Full  [][]key.Binding
}

// ShortHelp implements help.KeyMap.
func (k KeyMap) ShortHelp() []key.Binding { return k.Short }

// FullHelp implements help.KeyMap.
func (k KeyMap) FullHelp() [][]key.Binding { return k.Full }

// Keys is a KeyMap with the same keys in the footer and in the help.
func Keys(all ...key.Binding) KeyMap { return KeyMap{all, [][]key.Binding{all}} }

// Bind makes a binding that the help shows as name and what.
func Bind(name, what string, keys ...string) key.Binding {
	if len(keys) == 0 {
		keys = []string{} // for the help alone
	}
	return key.NewBinding(key.WithKeys(keys...), key.WithHelp(name, what))
}

// Pressed reports whether a message is a key of one of the bindings.
func Pressed(msg tea.KeyPressMsg, b ...key.Binding) bool { return key.Matches(msg, b...) }
