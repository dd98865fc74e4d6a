package ui

import (
	"slices"
	"strings"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"
)

// Keys that the program handles on every page.
var (
	HelpKey      = Bind("?", "help", "?", "f1")
	InterruptKey = Bind("ctrl-c", "quit the program", "ctrl+c")
	SuspendKey   = Bind("ctrl-z", "suspend", "ctrl+z")
)

// BackText describes a key that closes the page. On the last page, the frame shows "quit"
// instead.
const BackText = "back"

// KeyMap has the footer's keys, and the help's keys in groups.
type KeyMap struct {
	Short []key.Binding
	Full  [][]key.Binding
}

// Keys returns a KeyMap with the same keys in the footer and in the help.
func Keys(all ...key.Binding) KeyMap { return KeyMap{all, [][]key.Binding{all}} }

// Key is a key of a page and its action, which is nil if the key is only listed in the help.
type Key struct {
	key.Binding
	Do func() tea.Cmd
}

// KeyTable has all keys of a page in its current state, in the groups of the help.
type KeyTable [][]Key

// On returns a key that is enabled if when is true. keys lists alternatives, separated by
// spaces. In the help, name is the key's label and what is the description.
func On(keys, name, what string, when bool, do func() tea.Cmd) Key {
	b := Bind(name, what, strings.Fields(keys)...)
	b.SetEnabled(when)
	return Key{b, do}
}

// Listed returns a key that is only listed in the help.
func Listed(name, what string) Key { return Key{Bind(name, what), nil} }

// Run returns an action that only runs a command.
func Run(cmd tea.Cmd) func() tea.Cmd { return func() tea.Cmd { return cmd } }

// Press carries out the action of a key. It returns false if the key has none.
func (t KeyTable) Press(msg tea.KeyPressMsg) (cmd tea.Cmd, done bool) {
	for _, group := range t {
		for _, k := range group {
			if k.Do != nil && Pressed(msg, k.Binding) {
				return k.Do(), true
			}
		}
	}
	return nil, false
}

// Map returns the table's keys for the help, and the given ones for the footer. Each of
// these is the label of a key, which the footer leaves out while no enabled key has it, or
// label=description, which it always shows. If the table has a key q, the footer ends with the
// key for the help and q.
func (t KeyTable) Map(footer ...string) KeyMap {
	m := KeyMap{Short: make([]key.Binding, 0, len(footer)), Full: make([][]key.Binding, len(t))}
	for i, group := range t {
		m.Full[i] = make([]key.Binding, len(group))
		for j, k := range group {
			m.Full[i][j] = k.Binding
		}
	}
	labeled := func(label string) []key.Binding {
		for _, group := range m.Full {
			if i := slices.IndexFunc(group, func(b key.Binding) bool { return b.Enabled() && b.Help().Key == label }); i >= 0 {
				return group[i : i+1]
			}
		}
		return nil
	}
	for _, entry := range footer {
		if name, what, other := strings.Cut(entry, "="); other {
			m.Short = append(m.Short, Bind(name, what))
		} else {
			m.Short = append(m.Short, labeled(entry)...)
		}
	}
	if q := labeled("q"); q != nil {
		m.Short = append(m.Short, HelpKey, q[0])
	}
	return m
}

// Bind returns a binding for the given keys. In the help, name is the key's label and what
// is the description.
func Bind(name, what string, keys ...string) key.Binding {
	if len(keys) == 0 {
		keys = []string{} // shown in the help only
	}
	var b key.Binding // without the functions that key.NewBinding takes, since each frame has new bindings
	b.SetKeys(keys...)
	b.SetHelp(name, what)
	return b
}

// Pressed reports whether the pressed key belongs to one of the bindings.
func Pressed(msg tea.KeyPressMsg, b ...key.Binding) bool { return key.Matches(msg, b...) }
