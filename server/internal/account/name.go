package account

import (
	"strings"

	"github.com/gridstand/gridstand/internal/names"
	"github.com/gridstand/gridstand/server/internal/invalid"
)

// newName returns an error if new accounts cannot take name, which must be well-formed:
// ErrNameReserved, or an *invalid.Error if its punctuation could be confusing.
func newName(name string) error {
	first := name[0]
	switch {
	case strings.IndexByte(" -_.", first) >= 0 || strings.Contains(name, "  "):
		return invalid.Field("name", "must begin with a letter or digit and must not contain two consecutive spaces")
	case names.Reserved(name):
		return ErrNameReserved
	}
	return nil
}
