// Package variants lists the variants that can be played, each with its rules, its descriptions for
// players and its revision. New games are added here; the server and the clients' lists and
// leaderboards follow this list.
package variants

import (
	"slices"

	"github.com/gridstand/gridstand/game"
)

// current lists the variants in display order, each in the revision that new games use.
var current = append(twenty48s(), triboloVariant)

// retired lists earlier revisions, which are needed to replay stored games. If a rule change
// would alter a stored board, the previous revision moves here.
var retired []game.Variant

// All returns the current variants in display order. The caller owns the slice.
func All() []game.Variant {
	all := slices.Clone(current)
	for i := range all {
		all[i] = own(all[i])
	}
	return all
}

// Current returns the variant with the given ID in the revision that new games use. It returns
// false if there is no such variant. IDs are case-sensitive.
func Current(id string) (game.Variant, bool) {
	return find(current, func(v game.Variant) bool { return v.ID == id })
}

// Lookup returns the variant with the given ID and revision, current or retired. Stored games
// record both the ID and the revision. It returns false if there is no such variant.
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

// own returns a copy of v with its own slices, so that callers cannot change the list.
func own(v game.Variant) game.Variant {
	v.Bots = slices.Clone(v.Bots)
	return v
}
