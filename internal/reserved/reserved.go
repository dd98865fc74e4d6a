// Package reserved contains the names that new accounts cannot take: the server refuses them,
// and clients do not suggest them.
package reserved

import (
	"slices"
	"strings"
	"unicode"

	"github.com/gridstand/gridstand/game/variants"
)

// words could be mistaken for part of the service or for commands of the client.
var words = []string{
	// Names that suggest the people and programs that run the service.
	"admin", "administrator", "gridstand", "mod", "moderator", "official", "operator", "root", "server", "service",
	"staff", "support", "system", "team",
	// Words that stand in for a name.
	"all", "anonymous", "anybody", "anyone", "everybody", "everyone", "guest", "local", "me", "nobody", "none", "null",
	"open", "somebody", "someone", "undefined", "unknown", "you",
	// Commands of the client.
	"beat", "bench", "bot", "challenge", "completion", "daily", "games", "help", "join", "login", "man", "move", "new", "play", "race",
	"resign", "show", "ssh-host", "ssh-key", "standings", "top", "tv", "variants", "verify", "version", "watch", "whoami",
	// Commands of the server, for operators.
	"backup", "copy", "healthcheck", "hide", "identical", "quarantine", "rebuild", "ssh-credential", "unhide",
}

// skeletons contains the skeletons of all reserved names: the words and the names of variants
// and bots.
var skeletons = func() map[string]bool {
	names := map[string]bool{}
	for _, v := range variants.All() {
		for _, name := range slices.Concat(words, v.Bots, []string{v.ID, v.Title}) {
			names[skeleton(name)] = true
		}
	}
	return names
}()

// skeleton returns the letters and digits of a name in lower case. Names that look alike have
// the same skeleton.
func skeleton(name string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, name)
}

// Name reports whether name is reserved, ignoring case and punctuation.
func Name(name string) bool { return skeletons[skeleton(name)] }
