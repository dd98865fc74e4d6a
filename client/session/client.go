package session

import (
	"errors"

	"google.golang.org/grpc"

	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// DefaultTarget is the server that an empty Config.Target means.
const DefaultTarget = "localhost:2048"

// Config says which server to talk to, and how. The zero Config is a server on
// this machine, without TLS and without an account.
type Config struct {
	// Target is "host:port", several of them separated by commas, over which
	// calls are spread, or "dns:///name" for all addresses of a name. A port
	// left out is 2048. Empty means DefaultTarget.
	Target string

	// TLS encrypts the connection and checks the server's certificate.
	TLS bool

	// CAFile is a PEM file with the authorities to trust in place of the
	// system's. It implies TLS.
	CAFile string

	// Token of the account to act for, empty for none. See Client.SetToken.
	Token string

	// UserAgent names the program to the server; it may be empty.
	UserAgent string

	// DialOptions come after the client's own and so override them.
	DialOptions []grpc.DialOption
}

// Client is a connection to a server (or to several that serve the same games)
// with the account it acts for. Its methods are safe for concurrent use. All
// errors of its calls, also of those made through the service fields, are
// *Error, unless a comment says otherwise.
type Client struct {
	// Games creates, lists, plays and shows games.
	Games pb.GameServiceClient
	// Leaderboard answers who is best.
	Leaderboard pb.LeaderboardServiceClient
	// Players keeps the accounts.
	Players pb.PlayerServiceClient

	conn   *grpc.ClientConn
	target string
}

// Dial makes a client. It does not wait for a connection: that is made with the
// first call, which fails within about a second where no server answers. The
// error tells of a Config that cannot be used. Close the client after use.
func Dial(c Config) (*Client, error) { return nil, errors.ErrUnsupported }

// Close ends the connection and every call and watcher that uses it.
func (c *Client) Close() error { return c.conn.Close() }

// Target is the server in the form under which a Store keeps its credential;
// see NormalTarget.
func (c *Client) Target() string { return c.target }

// SetToken changes the account that later calls act for; empty means none. A
// token is "<player id>.<secret>".
func (c *Client) SetToken(token string) {}

// PlayerID is the id of the account that the client acts for, empty for none.
func (c *Client) PlayerID() string { return "" }

// NormalTarget is the one form of all the ways to write the same target: lower
// case, with ports, lists in order. It returns an error for what is no target.
func NormalTarget(target string) (string, error) { return target, nil }
