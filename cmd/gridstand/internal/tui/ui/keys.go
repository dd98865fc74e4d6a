package ui

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"

	"github.com/gridstand/gridstand/internal/convert"
)

// Keys that the program handles on every page.
var (
	HelpKey      = Bind("? F1", "help", "?", "f1")
	InterruptKey = Bind("ctrl-c", "quit the program", "ctrl+c")
	SuspendKey   = Bind("ctrl-z", "suspend", "ctrl+z")
)

// BackText describes a key that closes the page. On the last page, the frame shows "quit"
// instead.
const BackText = "back"

// Key is a key of a page: its action, and its places in the help and in the footer.
type Key struct {
	key.Binding
	// Do is nil if the key is only listed in the help.
	Do func() tea.Cmd

	footer key.Help
	place  int // in the footer, from 1; 0 if the footer does not have the key
	closes bool
}

// KeyTable has all keys of a page or a dialog in its current state, in the groups of the help.
type KeyTable [][]Key

// On returns a key that is enabled if when is true. keys lists alternatives, separated by
// spaces; if it is empty, the key stands for all that the table does not list before. In the help,
// name is the key's label and what is the description.
func On(keys, name, what string, when bool, do func() tea.Cmd) Key {
	b := Bind(name, what, strings.Fields(keys)...)
	b.SetEnabled(when)
	return Key{Binding: b, Do: do}
}

// Listed returns a key that is only listed.
func Listed(name, what string) Key { return Key{Binding: Bind(name, what)} }

// Unlisted returns a key that is not listed, such as the one that turns back.
func Unlisted(keys string, do func() tea.Cmd) Key { return On(keys, "", "", true, do) }

// Footer gives a key a place in the footer, which shows enabled keys in the order of their places, and
// leaves out the last ones if there is no room.
func (k Key) Footer(place int) Key { return k.FooterAs(place, k.Help().Key, k.Help().Desc) }

// FooterAs is like Footer, with another label and another description than the help's.
func (k Key) FooterAs(place int, name, what string) Key {
	k.place, k.footer = place, key.Help{Key: name, Desc: what}
	return k
}

// Closing makes the key close the dialog that has it.
func (k Key) Closing() Key {
	k.closes = true
	return k
}

// Run returns an action that only runs a command.
func Run(cmd tea.Cmd) func() tea.Cmd { return func() tea.Cmd { return cmd } }

// Press carries out the action of a key, and reports whether the key closes the dialog.
func (t KeyTable) Press(msg tea.KeyPressMsg) (cmd tea.Cmd, closes bool) {
	for _, group := range t {
		for _, k := range group {
			if k.Do != nil && k.Enabled() && (len(k.Binding.Keys()) == 0 || key.Matches(msg, k.Binding)) {
				return k.Do(), k.closes
			}
		}
	}
	return nil, false
}

// shown returns the table's keys for the footer and for the help. If the table has a key q, the footer ends
// with the key for the help and q. last is set if closing the page ends the program.
func (t KeyTable) shown(last bool) (footer []key.Binding, groups [][]key.Binding) {
	var placed []Key
	var end []key.Binding
	for _, group := range t {
		var all []key.Binding
		for _, k := range group {
			if last && k.Help().Desc == BackText {
				k.SetHelp(k.Help().Key, "quit")
			}
			if k.Help().Key != "" {
				all = append(all, k.Binding)
			}
			switch {
			case !k.Enabled():
			case k.place > 0:
				placed = append(placed, k)
			case k.Help().Key == "q":
				end = []key.Binding{Bind("?", "help"), k.Binding}
			}
		}
		groups = append(groups, all)
	}
	slices.SortStableFunc(placed, func(a, b Key) int { return cmp.Compare(a.place, b.place) })
	footer = convert.All(placed, func(k Key) key.Binding { return Bind(k.footer.Key, k.footer.Desc) })
	return append(footer, end...), groups
}

// Bind returns a binding for the given keys. In the help, name is the key's label and what
// is the description.
func Bind(name, what string, keys ...string) key.Binding {
	keys = append([]string{}, keys...) // Not nil, or else the help would leave out a binding without keys.
	return key.NewBinding(key.WithKeys(keys...), key.WithHelp(name, what))
}

// layouts lists the letters of keyboard layouts, and the letters at the same places of an American one.
// A layout with Latin letters is not told apart from the American one.
var layouts = [][2]string{
	{"йцукенгшщзфывапролдячсмитьіїў", "qwertyuiopasdfghjklzxcvbnmsyo"}, // Russian, Ukrainian, Belarusian
	{"ςερτυθιοπασδφγηξκλζχψωβνμ", "wertyuiopasdfghjklzxcvbnm"},         // Greek
	{"קראטוןםפשדגכעיחלךזסבהנמצ", "ertyuiopasdfghjklzxcvbnm"},           // Hebrew
	{"ضصثقفغعهخحشسيبلاتنمئءؤرىة", "qwertyuiopasdfghjklzxcvnm"},         // Arabic
}

// places maps the letters of layouts to American ones.
var places = func() map[rune]rune {
	at := map[rune]rune{}
	for _, layout := range layouts {
		for i, letter := range []rune(layout[0]) {
			latin := rune(layout[1][i])
			at[unicode.ToUpper(letter)] = unicode.ToUpper(latin)
			at[letter] = latin
		}
	}
	return at
}()

// ByPlace returns a key as an American keyboard has it at the same place, without regard to caps lock.
// Terminals with the kitty protocol say where a key is; for others, the letter tells, if it is in
// layouts.
func ByPlace(msg tea.KeyPressMsg) tea.KeyPressMsg {
	typed, _ := utf8.DecodeRuneInString(msg.Text)
	latin, known := places[typed]
	if base := msg.BaseCode; 'a' <= base && base <= 'z' && (msg.Text == "" || unicode.IsLetter(typed)) {
		latin, known = base, true
		if msg.Mod.Contains(tea.ModShift) {
			latin = unicode.ToUpper(base)
		}
	}
	switch {
	case !known:
	case msg.Text == "":
		msg.Code = unicode.ToLower(latin)
	default:
		msg.Code, msg.Text = unicode.ToLower(latin), string(latin)
	}
	return msg
}

// Modifier reports whether a key alone, such as shift, means nothing.
func Modifier(msg tea.KeyPressMsg) bool {
	return tea.KeyCapsLock <= msg.Code && msg.Code <= tea.KeyNumLock || tea.KeyLeftShift <= msg.Code && msg.Code <= tea.KeyIsoLevel5Shift
}
