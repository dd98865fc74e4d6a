// Package variants lists the variants that can be played, each with its rules, its descriptions for
// players and its revision. New games are added here; the server and the clients' lists and
// leaderboards follow this list.
package variants

import (
	"slices"

	"github.com/gridstand/gridstand/game"
)

// current lists the variants in display order, each in the revision that new games use. If a rule
// change would alter the board of a stored game, Lookup must still find the previous revision.
var current = append(twenty48s(), triboloVariant)

// All returns the current variants in display order. The caller owns the slice.
func All() []game.Variant { return slices.Clone(current) }

// Current returns the variant with the given ID in the revision that new games use. It returns
// false if there is no such variant. IDs are case-sensitive.
func Current(id string) (game.Variant, bool) {
	i := slices.IndexFunc(current, func(v game.Variant) bool { return v.ID == id })
	if i < 0 {
		return game.Variant{}, false
	}
	return current[i], true
}

// Lookup returns the variant with the given ID and revision. Stored games record both. It returns
// false if there is no such variant.
func Lookup(id string, revision int32) (game.Variant, bool) {
	v, ok := Current(id)
	return v, ok && v.Revision == revision
}
