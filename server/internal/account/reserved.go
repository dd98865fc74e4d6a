package account

import (
	"slices"
	"strings"
	"unicode"

	"github.com/gridstand/gridstand/game/variants"
	"github.com/gridstand/gridstand/server/internal/invalid"
)

// reservedWords are names that new accounts cannot take, because players with such names
// could be mistaken for part of the service or for commands of the client.
var reservedWords = []string{
	// Names that suggest the people and programs that run the service.
	"admin", "administrator", "gridstand", "mod", "moderator", "official", "operator", "root", "server", "service",
	"staff", "support", "system", "team",
	// Words that stand in for a name.
	"all", "anonymous", "anybody", "anyone", "everybody", "everyone", "guest", "local", "me", "nobody", "none", "null",
	"open", "somebody", "someone", "undefined", "unknown", "you",
	// Commands of the client.
	"beat", "bench", "bot", "challenge", "completion", "daily", "games", "help", "join", "login", "man", "move", "new", "play", "race",
	"resign", "show", "ssh-host", "ssh-key", "standings", "top", "tv", "variants", "verify", "version", "watch", "whoami",
}

// reserved contains the skeletons of all reserved names: the reserved words and the names of
// variants and bots.
var reserved = func() map[string]bool {
	names := map[string]bool{}
	for _, v := range variants.All() {
		for _, name := range slices.Concat(reservedWords, v.Bots, []string{v.ID, v.Title}) {
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

// Reserved reports whether name is reserved, ignoring case and punctuation.
func Reserved(name string) bool { return reserved[skeleton(name)] }

// newName returns an error if new accounts cannot take name, which must be well-formed:
// ErrNameReserved, or an *invalid.Error if its punctuation could be confusing.
func newName(name string) error {
	first := name[0]
	switch {
	case strings.IndexByte(" -_.", first) >= 0 || strings.Contains(name, "  "):
		return invalid.Field("name", "must begin with a letter or digit and must not contain two consecutive spaces")
	case Reserved(name):
		return ErrNameReserved
	}
	return nil
}
