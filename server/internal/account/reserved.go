package account

import (
	"slices"
	"strings"
	"unicode"

	"github.com/gridstand/gridstand/game/variants"
	"github.com/gridstand/gridstand/server/internal/invalid"
)

// reservedWords are names that a new account cannot take: a player with such a name
// would pass for part of the service, or for a word of the client's.
var reservedWords = []string{
	// Names for the people and programs that run the service.
	"admin", "administrator", "gridstand", "mod", "moderator", "official", "operator", "root", "server", "service",
	"staff", "support", "system", "team",
	// Placeholders for a name.
	"all", "anonymous", "anybody", "anyone", "everybody", "everyone", "guest", "local", "me", "nobody", "none", "null",
	"open", "somebody", "someone", "undefined", "unknown", "you",
	// The client's commands.
	"bench", "bot", "completion", "games", "help", "join", "login", "move", "new", "play", "resign", "show", "ssh-host", "ssh-key",
	"top", "tv", "variants", "verify", "version", "watch", "whoami",
}

// reserved are the reserved names as skeleton writes them: the words, and the names
// of variants and bots.
var reserved = func() map[string]bool {
	names := map[string]bool{}
	for _, v := range variants.All() {
		for _, name := range slices.Concat(reservedWords, v.Bots, []string{v.ID, v.Title}) {
			names[skeleton(name)] = true
		}
	}
	return names
}()

// skeleton is the letters and digits of a name, in lower case: names that look alike
// have the same skeleton.
func skeleton(name string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, name)
}

// Reserved reports whether no new account can take a name, in any case and with any
// punctuation.
func Reserved(name string) bool { return reserved[skeleton(name)] }

// newName returns why no new account can take a valid name: ErrNameReserved, or an
// *invalid.Error if it could be mistaken for something else.
func newName(name string) error {
	first := name[0]
	switch {
	case strings.IndexByte(" -_.", first) >= 0 || strings.Contains(name, "  "):
		return invalid.Field("name", "must begin with a letter or a digit and have no two spaces in a row")
	case Reserved(name):
		return ErrNameReserved
	}
	return nil
}
