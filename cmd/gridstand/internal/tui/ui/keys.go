package ui

import (
	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"
)

// Common has the keys that the program handles on every page.
type Common struct{ Help, Back, Interrupt, Suspend key.Binding }

// BackText describes a key that closes the page. On the last page, the frame shows "quit"
// instead.
const BackText = "back"

// NewCommon returns the keys that work on every page.
func NewCommon() Common {
	return Common{
		Help:      Bind("?", "help", "?", "f1"),
		Back:      Bind("q", BackText, "q"),
		Interrupt: Bind("ctrl-c", "quit the program", "ctrl+c"),
		Suspend:   Bind("ctrl-z", "suspend", "ctrl+z"),
	}
}

// KeyMap has the footer's keys, and the help's keys in groups.
type KeyMap struct {
	Short []key.Binding
	Full  [][]key.Binding
}

// Keys returns a KeyMap with the same keys in the footer and in the help.
func Keys(all ...key.Binding) KeyMap { return KeyMap{all, [][]key.Binding{all}} }

// Bind returns a binding for the given keys. In the help, name is the key's label and what
// is the description.
func Bind(name, what string, keys ...string) key.Binding {
	if len(keys) == 0 {
		keys = []string{} // shown in the help only
	}
	return key.NewBinding(key.WithKeys(keys...), key.WithHelp(name, what))
}

// Pressed reports whether the pressed key belongs to one of the bindings.
func Pressed(msg tea.KeyPressMsg, b ...key.Binding) bool { return key.Matches(msg, b...) }
