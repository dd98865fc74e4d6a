package account

import (
	"strings"

	"github.com/gridstand/gridstand/internal/names"
	"github.com/gridstand/gridstand/server/internal/invalid"
)

// newName returns an error if new accounts cannot take name: ErrNameReserved, or an *invalid.Error if it is
// malformed or its punctuation could be confusing.
func newName(name string) error {
	if err := checkName(name); err != nil {
		return err
	}
	switch {
	case strings.IndexByte(" -_.", name[0]) >= 0 || strings.Contains(name, "  "):
		return invalid.Field("name", "must begin with a letter or digit and must not contain two consecutive spaces")
	case names.Reserved(name):
		return ErrNameReserved
	}
	return nil
}
