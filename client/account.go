package client

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode"

	"github.com/gridstand/gridstand/internal/id"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// createTries is how often a call that creates something is made if its reply is
// lost. gRPC, too, makes each of them several times if no server answers.
const createTries = 2

// CreatePlayer creates an account and returns it with its token, which the client
// does not use until SetToken. bot declares that a program plays under it. The call
// carries no token. If the error is ErrNameTaken or ErrInvalid, another name may do.
//
// For a Session with a key, it links the key to the account, and the client acts for it
// from then on. There is no token. The error is ErrKeyTaken if the key is linked to an
// account of another name.
func (c *Client) CreatePlayer(ctx context.Context, name string, bot bool) (*pb.Player, string, error) {
	if c.bearer.acts() {
		return c.createPlayer(ctx, name, "", bot)
	}
	return c.createPlayer(ctx, name, NewSecret(), bot)
}

// createPlayer is safe to repeat with the same secret, or the same key of a session.
func (c *Client) createPlayer(ctx context.Context, name, secret string, bot bool) (*pb.Player, string, error) {
	// Only UTF-8 can be sent. The server refuses the replacement character, as it
	// does every other that no name may have.
	name = strings.ToValidUTF8(name, string(unicode.ReplacementChar))
	response, err := retry(identify(withToken(ctx, "")), c, createTries, nil,
		func(ctx context.Context) (*pb.CreatePlayerResponse, error) {
			return c.Players.CreatePlayer(ctx, &pb.CreatePlayerRequest{Name: name, Secret: secret, Bot: bot})
		})
	if err != nil {
		return nil, "", err
	}
	if c.bearer.acts() {
		c.bearer.actFor(response.GetPlayer())
		return response.GetPlayer(), "", nil
	}
	token := joinToken(response.GetPlayer().GetId(), secret)
	if response.GetToken() != token || !id.Valid(response.GetPlayer().GetId()) {
		return nil, "", fmt.Errorf("%w: a token for another account than was created", ErrBadStream)
	}
	return response.GetPlayer(), token, nil
}

// me returns the account that a token acts for.
func (c *Client) me(ctx context.Context, token string) (*pb.Player, error) {
	response, err := c.Players.GetPlayer(withToken(ctx, token), &pb.GetPlayerRequest{PlayerId: "me"})
	return response.GetPlayer(), err
}

// PlayerByName returns the player with a name, in any case of its letters. The error
// is ErrPlayerNotFound if no player has it.
func (c *Client) PlayerByName(ctx context.Context, name string) (*pb.Player, error) {
	// Only UTF-8 can be sent.
	name = strings.ToValidUTF8(name, string(unicode.ReplacementChar))
	response, err := c.Players.GetPlayer(ctx, &pb.GetPlayerRequest{Name: name})
	if err != nil {
		return nil, err
	}
	player := response.GetPlayer()
	if !id.Valid(player.GetId()) || !strings.EqualFold(player.GetName(), name) {
		return nil, fmt.Errorf("%w: another player than was asked for", ErrBadStream)
	}
	return player, nil
}

// Rotate replaces the secret of the account and returns the new token, which the
// client uses from then on. Before it asks the server it calls keep to store the new
// secret (see Credential.Pending), so that a lost reply does not lose the account;
// an error of keep ends Rotate, and nothing has changed. After a lost reply it tries
// both tokens until ctx ends.
func (c *Client) Rotate(ctx context.Context, keep func(secret string) error) (string, error) {
	secret := NewSecret()
	if err := keep(secret); err != nil {
		return "", err
	}
	before := c.token()
	after := joinToken(idOf(before), secret)
	rotate := func(ctx context.Context) (*pb.RotateTokenResponse, error) {
		request := &pb.RotateTokenRequest{Secret: secret}
		response, err := c.Players.RotateToken(withToken(ctx, before), request)
		if errors.Is(err, ErrBadToken) {
			// An earlier try may have taken effect, even one that gRPC made by
			// itself.
			response, err = c.Players.RotateToken(withToken(ctx, after), request)
		}
		return response, err
	}
	if _, err := retry(ctx, c, 0, nil, rotate); err != nil {
		return "", err
	}
	c.SetToken(after)
	return after, nil
}
