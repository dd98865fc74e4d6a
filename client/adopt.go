package client

import (
	"context"
	"fmt"
	"strings"

	"github.com/gridstand/gridstand/internal/id"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// Lengths of the secret of a token.
const (
	minSecret = 26
	maxSecret = 128
)

// ParseToken returns the id of the player for whom a token acts. The error is ErrInvalid
// for a token that is malformed.
func ParseToken(token string) (playerID string, err error) {
	playerID, secret, _ := strings.Cut(token, ".")
	if !id.Valid(playerID) || len(secret) < minSecret || len(secret) > maxSecret || !id.IsBase32(secret) {
		return "", badID("that is not a token: a token has %d characters out of a–z and 2–7, a dot, and %d or more of them",
			id.Length, minSecret)
	}
	return playerID, nil
}

// Adopt makes the client act for the account of a token that another program has, for
// example a browser, and stores it. It gives up the account that the store keeps for the
// client's server if the client acts for that one; an account that the server did not
// know stays as its Previous. After an error the store is as it was.
//
// The errors are ErrInvalid for a token that is malformed, which is not sent,
// ErrBadToken for one that the server does not know, and ErrClearText if the store knows
// that the account was used over TLS and the client has none.
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
	if err := (login{c, store}).mayUse(cred); err != nil {
		return Credential{}, err
	}
	known, err := c.me(ctx, token)
	if err != nil {
		return Credential{}, err
	}
	if known.GetId() != player {
		return Credential{}, fmt.Errorf("%w: another account than that of the token", ErrBadStream)
	}
	info, err := c.Games.GetServerInfo(withToken(ctx, ""), &pb.GetServerInfoRequest{})
	if err != nil {
		return Credential{}, err
	}
	cred.PlayerID, cred.Name, cred.Bot = player, CleanName(known.GetName()), known.GetBot()
	cred.Durable = info.GetStorage() == pb.Storage_STORAGE_DURABLE
	others := &before
	if before.PlayerID == c.PlayerID() {
		others = before.Previous
	}
	if others != nil {
		cred.Previous = durable(*others, player)
	}
	if err := store.Save(c.Target(), cred); err != nil {
		return Credential{}, err
	}
	c.SetToken(token)
	return cred, nil
}
