// Package names compares players' names. Names that look alike are equal: only one account can
// take them. The server refuses the names that are reserved.
package names

import (
	"slices"
	"strings"

	"github.com/gridstand/gridstand/game/variants"
)

// words could be mistaken for part of the service or for commands of the client.
var words = []string{
	// Names that suggest the people and programs that run the service.
	"admin", "administrator", "gridstand", "mod", "moderator", "official", "operator", "root", "server", "service",
	"staff", "support", "system", "team",
	// Words that stand in for a name.
	"all", "anonymous", "anybody", "anyone", "everybody", "everyone", "guest", "local", "me", "nobody", "none", "null",
	"open", "player", "somebody", "someone", "undefined", "unknown", "you",
	// Commands of the client.
	"account", "bot", "challenge", "completion", "daily", "games", "help", "join", "link", "move", "new", "play", "race",
	"resign", "scripts", "show", "ssh-host", "top", "variants", "verify", "version", "watch",
	// Commands of the server, for operators.
	"backup", "dump", "healthcheck", "hide", "quarantine", "rebuild", "restore", "ssh-credential", "unhide",
}

// reserved contains the folded forms of all reserved names: the words and the names of variants
// and bots.
var reserved = func() map[string]bool {
	folded := map[string]bool{}
	for _, v := range variants.All() {
		for _, name := range slices.Concat(words, v.Bots, []string{v.ID, v.Title}) {
			folded[Fold(name)] = true
		}
	}
	return folded
}()

var folds = strings.NewReplacer(" ", "", "-", "", "_", "", ".", "", "0", "o", "1", "l", "i", "l")

// Fold returns the folded form of a name, which names that look alike share: it has no upper case,
// spaces or punctuation, the letter o for 0, and l for 1 and i. It is empty for a name without
// letters and digits, which only accounts of early versions have.
func Fold(name string) string { return folds.Replace(strings.ToLower(name)) }

// Same reports whether two names are the same, ignoring case.
func Same(a, b string) bool { return strings.EqualFold(a, b) }

const (
	guestPrefix = "guest-"
	// GuestDigits is the number of characters that follow the prefix in the name of a guest.
	GuestDigits = 6
)

// Guest returns the name of a guest, given at least GuestDigits random characters.
func Guest(random string) string { return guestPrefix + random[:GuestDigits] }

// IsGuest reports whether a name is that of a guest, who has not chosen a name.
func IsGuest(name string) bool {
	return len(name) == len(guestPrefix)+GuestDigits && Same(name[:len(guestPrefix)], guestPrefix)
}

// Reserved reports whether a name looks like a reserved one.
func Reserved(name string) bool { return reserved[Fold(name)] }
