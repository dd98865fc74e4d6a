package account

import (
	"strings"

	"github.com/gridstand/gridstand/internal/names"
	"github.com/gridstand/gridstand/server/internal/invalid"
)

// newName returns an error if new accounts cannot take name: ErrNameReserved, or an *invalid.Error if it is
// malformed or its punctuation could be confusing.
func newName(name string) error {
	switch {
	case !validName(name):
		return invalid.Field("name", "must be 1 to %d characters from a–z, A–Z, 0–9, space and “-_.”, "+
			"with no space at either end", maxNameLength)
	case strings.IndexByte(" -_.", name[0]) >= 0 || strings.Contains(name, "  "):
		return invalid.Field("name", "must begin with a letter or digit and must not contain two consecutive spaces")
	case names.Reserved(name):
		return ErrNameReserved
	}
	return nil
}
