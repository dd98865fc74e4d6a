package session

import (
	"context"
	"errors"

	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// NewSecret draws 128 random bits: 26 characters of lower-case base32. It
// serves as the secret of an account and as a CreateGameRequest.request_id.
func NewSecret() string { return "" }

// CreatePlayer creates an account and returns it with its token, which the
// client does not use until SetToken. It is made without the client's own
// token. An error that is ErrNameTaken or ErrInvalid asks for another name.
func (c *Client) CreatePlayer(ctx context.Context, name string, bot bool) (*pb.Player, string, error) {
	return nil, "", errors.ErrUnsupported
}

// Rotate replaces the secret of the client's account and returns the new token,
// which the client uses from then on. It calls keep with the new secret before
// it asks the server, so that no lost reply loses the account; keep stores it
// (see Credential.Pending), and an error from it ends Rotate before anything
// happened. After a lost reply it tries both tokens until ctx ends.
func (c *Client) Rotate(ctx context.Context, keep func(secret string) error) (string, error) {
	return "", errors.ErrUnsupported
}
