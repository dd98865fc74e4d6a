// Package variants lists the variants that can be played, each with its rules, its texts
// for players and its revision. A new game is added here; the server, clients' lists and
// leaderboards follow this list.
package variants

import (
	"slices"

	"github.com/gridstand/gridstand/game"
)

// current are the variants in the order of display, each in the revision of new games.
var current = append(twenty48s(), triboloVariant)

// retired are earlier revisions, by which stored games are still replayed. A change of
// the rules that would alter a stored board moves the previous revision here.
var retired []game.Variant

// All returns the current variants in the order in which they are displayed.
// The slice belongs to the caller.
func All() []game.Variant {
	all := slices.Clone(current)
	for i := range all {
		all[i] = own(all[i])
	}
	return all
}

// Current returns the variant of that id in the revision of new games. It reports false
// if there is none. Ids are case-sensitive.
func Current(id string) (game.Variant, bool) {
	return find(current, func(v game.Variant) bool { return v.ID == id })
}

// Lookup returns the variant of that id in that revision, current or retired: stored
// games name both. It reports false if there is none.
func Lookup(id string, revision int32) (game.Variant, bool) {
	is := func(v game.Variant) bool { return v.ID == id && v.Revision == revision }
	if v, ok := find(current, is); ok {
		return v, true
	}
	return find(retired, is)
}

func find(in []game.Variant, is func(game.Variant) bool) (game.Variant, bool) {
	i := slices.IndexFunc(in, is)
	if i < 0 {
		return game.Variant{}, false
	}
	return own(in[i]), true
}

// own returns v with slices of its own, so that no caller can change the list.
func own(v game.Variant) game.Variant {
	v.Bots = slices.Clone(v.Bots)
	return v
}
