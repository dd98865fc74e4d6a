package client

import (
	"context"
	"fmt"
	"strings"

	"github.com/gridstand/gridstand/internal/id"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// The minimum and maximum lengths of a token's secret.
const (
	minSecret = 26
	maxSecret = 128
)

// ParseToken returns the id of the player that a token belongs to. The error is ErrInvalid
// if the token is malformed.
func ParseToken(token string) (playerID string, err error) {
	playerID, secret, _ := strings.Cut(token, ".")
	if !id.Valid(playerID) || len(secret) < minSecret || len(secret) > maxSecret || !id.IsBase32(secret) {
		return "", invalid("that is not a token: a token has %d characters from a–z and 2–7, a dot, and at least %d more",
			id.Length, minSecret)
	}
	return playerID, nil
}

// Adopt makes the client act for an account whose token comes from another program, such
// as a browser, and stores the account. If the client was acting for the account stored
// for its server, that account is dropped; otherwise the stored account is kept as
// Previous if its server had a durable store. If Adopt returns an error, the store is
// unchanged.
//
// The errors are ErrInvalid for a malformed token, which Adopt does not send, ErrBadToken
// for a token that the server does not know, and ErrClearText if the store has recorded
// that the account was used over TLS and the client does not use TLS.
func Adopt(ctx context.Context, c *Client, store *Store, token string) (Credential, error) {
	player, err := ParseToken(token)
	if err != nil {
		return Credential{}, err
	}
	before, _, err := store.Load(c.Target())
	if err != nil {
		return Credential{}, err
	}
	cred := Credential{Token: token, TLS: c.encrypted}
	for account := &before; account != nil; account = account.Previous {
		if account.PlayerID == player && account.TLS {
			cred.Name, cred.TLS = account.Name, true
		}
	}
	if err := (login{client: c, store: store}).mayUse(cred); err != nil {
		return Credential{}, err
	}
	known, err := c.Me(withToken(ctx, token))
	if err != nil {
		return Credential{}, err
	}
	if known.GetId() != player {
		return Credential{}, fmt.Errorf("%w: not the account of the token", ErrBadStream)
	}
	info, err := c.Games.GetServerInfo(withToken(ctx, ""), &pb.GetServerInfoRequest{})
	if err != nil {
		return Credential{}, err
	}
	cred.PlayerID, cred.Name, cred.Bot = player, CleanName(known.GetName()), known.GetBot()
	cred.Durable = info.GetStorage() == pb.Storage_STORAGE_DURABLE
	cred.Previous = durable(before, player, c.PlayerID())
	if err := store.Save(c.Target(), cred); err != nil {
		return Credential{}, err
	}
	c.SetToken(token)
	return cred, nil
}
