package session

import (
	"context"
	"errors"
)

// Resolve returns the id of the game that a user means: a whole id as it is,
// without asking the server; else a beginning of 6 or more characters that fits
// exactly one of the account's own games and the 200 most recent public ones.
// Otherwise the error is ErrInvalid or ErrGameNotFound and asks for the whole id.
func (c *Client) Resolve(ctx context.Context, prefix string) (string, error) {
	return "", errors.ErrUnsupported
}
