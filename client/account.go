package client

import (
	"context"
	"fmt"
	"strings"
	"unicode"

	"github.com/gridstand/gridstand/internal/id"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// createTries is the maximum number of times that a call that creates something is sent,
// in case a reply is lost or the server is restarting.
const createTries = 4

// CreatePlayer creates an account and returns it with its token. To act for the account,
// pass the token to SetToken. bot declares that the account belongs to a program. The call
// carries no token. If the error is ErrNameTaken or ErrInvalid, try another name.
//
// For a Session with a key, CreatePlayer links the key to the account, and the client
// acts for the account from then on. In that case, it returns no token, and the error is
// ErrKeyTaken if the key is linked to an account with another name.
func (c *Client) CreatePlayer(ctx context.Context, name string, bot bool) (*pb.Player, string, error) {
	if c.bearer.acts() {
		return c.createPlayer(ctx, name, "", bot)
	}
	return c.createPlayer(ctx, name, NewSecret(), bot)
}

// createPlayer is idempotent if called with the same secret or the same session key.
func (c *Client) createPlayer(ctx context.Context, name, secret string, bot bool) (*pb.Player, string, error) {
	// Protobuf strings must be valid UTF-8. The server rejects the replacement character,
	// which names must not contain.
	name = strings.ToValidUTF8(name, string(unicode.ReplacementChar))
	request := &pb.CreatePlayerRequest{Name: name, Secret: secret, Bot: bot}
	response, err := retry(identify(withToken(ctx, "")), c, createTries, c.Players.CreatePlayer, request)
	if err != nil {
		return nil, "", err
	}
	if c.bearer.acts() {
		c.bearer.actFor(response.GetPlayer())
		return response.GetPlayer(), "", nil
	}
	token := joinToken(response.GetPlayer().GetId(), secret)
	if response.GetToken() != token || !id.Valid(response.GetPlayer().GetId()) {
		return nil, "", fmt.Errorf("%w: the token is not for the account that was created", ErrBadStream)
	}
	return response.GetPlayer(), token, nil
}

// Rename gives the account that the client acts for another name. The error is ErrNameTaken or
// ErrInvalid if another name might be accepted, or ErrRenamedRecently.
func (c *Client) Rename(ctx context.Context, name string) (*pb.Player, error) {
	name = strings.ToValidUTF8(name, string(unicode.ReplacementChar)) // as in createPlayer
	response, err := retry(ctx, c, createTries, c.Players.Rename, &pb.RenameRequest{Name: name})
	return response.GetPlayer(), err
}

// PlayerByName returns the player who has the given name, or had it earlier, ignoring case. The error is
// ErrPlayerNotFound if there is no such player.
func (c *Client) PlayerByName(ctx context.Context, name string) (*pb.Player, error) {
	// Protobuf strings must be valid UTF-8.
	name = strings.ToValidUTF8(name, string(unicode.ReplacementChar))
	response, err := c.Players.GetPlayer(ctx, &pb.GetPlayerRequest{Name: name})
	if err != nil {
		return nil, err
	}
	player := response.GetPlayer()
	if !id.Valid(player.GetId()) {
		return nil, fmt.Errorf("%w: not the requested player", ErrBadStream)
	}
	return player, nil
}
