package client

import (
	"context"
	"net/netip"

	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// Session is an SSH session for which an SSH host makes calls.
type Session struct {
	// Credential is the service credential of the host, and Key the fingerprint
	// ("SHA256:…") of the key with which the SSH client authenticated. Both are empty
	// for a client without a key.
	Credential, Key string
	// Address of the SSH client, which limits then count calls for. The server
	// believes it only if its --proxies contain the host. The zero Addr is not sent.
	Address netip.Addr
}

// ForSession returns a client that makes calls for an SSH session, over the same
// connection: a host makes one connection and one such client for each session. Close
// on either closes both, so a host closes only the one from Dial.
//
// With a key, the client acts for the player to whom it is linked: Me returns the
// player, or ErrKeyNotLinked; then CreatePlayer creates an account with the key. Before
// one of them has returned a player, other calls are made without an account. Tokens
// that the client is given are not used. An ErrBadCredential is the host's problem.
func (c *Client) ForSession(s Session) *Client {
	return c.with(&bearer{session: s})
}

// Me returns the account that the client acts for, and from then on PlayerID does so
// for a Session with a key. The error is ErrBadToken if there is none, or
// ErrKeyNotLinked.
func (c *Client) Me(ctx context.Context) (*pb.Player, error) {
	response, err := c.Players.GetPlayer(identify(ctx), &pb.GetPlayerRequest{PlayerId: "me"})
	if err != nil {
		return nil, err
	}
	c.bearer.actFor(response.GetPlayer())
	return response.GetPlayer(), nil
}
