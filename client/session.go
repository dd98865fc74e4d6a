package client

import (
	"context"
	"net/netip"

	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// Session is an SSH session for which an SSH host makes calls.
type Session struct {
	// Credential is the service credential of the host. Key is the fingerprint
	// ("SHA256:…") of the key that the SSH client used to authenticate. Both are empty for
	// a client without a key.
	Credential, Key string
	// Address is the address of the SSH client. The server counts the session's calls
	// against this address's limits, but only if the server's --proxies include the host.
	// A zero Addr is not sent.
	Address netip.Addr
}

// ForSession returns a client that makes calls for an SSH session over the same
// connection. A host makes one connection, and one such client for each session. Closing
// either client closes both, so a host closes only the client from Dial.
//
// With a key, the client acts for the player that the key is linked to. Me returns the
// player, or ErrKeyNotLinked; in that case CreatePlayer creates an account for the key.
// Until one of them has returned a player, other calls are made without an account. Tokens
// set on the client are ignored. An ErrBadCredential concerns the host, not the player.
func (c *Client) ForSession(s Session) *Client {
	return c.with(&bearer{session: s})
}

// Me returns the account that the client acts for. For a Session with a key, PlayerID
// returns the account's id from then on. The error is ErrBadToken if there is no account,
// or ErrKeyNotLinked.
func (c *Client) Me(ctx context.Context) (*pb.Player, error) {
	response, err := c.Players.GetPlayer(identify(ctx), &pb.GetPlayerRequest{PlayerId: "me"})
	if err != nil {
		return nil, err
	}
	c.bearer.actFor(response.GetPlayer())
	return response.GetPlayer(), nil
}
