package client

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/cenkalti/backoff/v5"
	"google.golang.org/grpc"
	grpcbackoff "google.golang.org/grpc/backoff"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/status"

	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// Config specifies which server to connect to, and how. The zero Config connects to the
// server on this machine, without TLS and without an account.
type Config struct {
	// Target is "host:port", a comma-separated list of these, or "dns:///name" for all
	// addresses of a name. Calls are spread over all addresses. The default port is 2048.
	// If Target is empty, the client uses DefaultTarget.
	Target string

	// TLS encrypts the connection and checks the server's certificate.
	TLS bool

	// CAFile is a PEM file with the certificate authorities to trust instead of the
	// system's. It implies TLS.
	CAFile string

	// Token is the token of the account to act for, or empty for no account. See
	// Client.SetToken.
	Token string

	// UserAgent identifies the program to the server; it may be empty.
	UserAgent string

	// Once makes each call through the fields of Client once, also one that only reads.
	Once bool

	// DialOptions override the client's own options. Configure TLS with the fields above:
	// if the DialOptions contain transport credentials, Client.Exposed and Credential.TLS
	// are wrong.
	DialOptions []grpc.DialOption
}

// Client is a connection to a server, or to several servers with the same games, together
// with the account that it acts for. Its methods are safe for concurrent use. Every error
// from a server or from gRPC is or wraps an *Error, including those of calls through its
// fields.
//
// Calls through the fields, except Watch and WatchChallenge, have a timeout of 10 seconds.
// Those that only read, Get… and List…, are tried up to 4 times if no server is available or
// the connection breaks; all others are tried once. To make it safe to repeat these, set
// CreateGameRequest.request_id, CreateChallengeRequest.request_id,
// JoinChallengeRequest.request_id for a bot or CreatePlayerRequest.secret. NewGame,
// NewChallenge, AddBot and CreatePlayer do so.
type Client struct {
	// Games calls GameService, to create, list, play and watch games.
	Games pb.GameServiceClient
	// Leaderboard calls LeaderboardService, to list scores and ranks.
	Leaderboard pb.LeaderboardServiceClient
	// Challenges calls ChallengeService, to create, list and watch challenges.
	Challenges pb.ChallengeServiceClient
	// Players calls PlayerService, to create and read accounts.
	Players pb.PlayerServiceClient

	conn      *grpc.ClientConn
	target    string
	encrypted bool // whether Config asks for TLS
	exposed   bool
	bearer    *bearer
	wire      *wire

	closed context.Context // canceled by Close
	end    context.CancelFunc

	// newBackOff returns the backoff between retries. Tests replace it with a shorter
	// one.
	newBackOff func() *backoff.ExponentialBackOff
	// idleTimeout is how long a stream may be silent before it is considered broken.
	idleTimeout time.Duration
}

// serviceConfig spreads calls over all addresses.
const serviceConfig = `{"loadBalancingConfig": [{"round_robin": {}}]}`

// streamWindow and connectionWindow are the numbers of bytes that the server may send before the
// client has read them. They are fixed, because otherwise gRPC would send the server a ping for
// each event and each response, to estimate the bandwidth.
const (
	streamWindow     = 256 << 10
	connectionWindow = 1 << 20
)

// idleTimeout is three times as long as the longest interval between two messages of a
// stream, which is 20 seconds.
const idleTimeout = 60 * time.Second

// Dial returns a client, which the caller must close. The client connects on the first
// call, which fails within about a second if the connection is refused, and within 10
// seconds if nothing answers. Dial itself returns an error only if the Config is invalid.
func Dial(config Config) (*Client, error) {
	to, err := parseTarget(config.Target)
	if err != nil {
		return nil, err
	}
	transport, err := config.transport()
	if err != nil {
		return nil, err
	}
	c := &Client{
		target:      to.String(),
		encrypted:   config.encrypted(),
		exposed:     !config.encrypted() && !to.loopback(),
		newBackOff:  newBackOff,
		idleTimeout: idleTimeout,
	}
	c.closed, c.end = context.WithCancel(context.Background())

	c.wire = &wire{readTries: maxReadTries}
	if config.Once {
		c.wire.readTries = 1
	}
	uri, options := to.dial()
	options = append(
		options,
		grpc.WithTransportCredentials(transport),
		grpc.WithUserAgent(config.UserAgent),
		grpc.WithDefaultServiceConfig(serviceConfig),
		// Ignore service configs from DNS.
		grpc.WithDisableServiceConfig(),
		grpc.WithStaticStreamWindowSize(streamWindow),
		grpc.WithStaticConnWindowSize(connectionWindow),
		grpc.WithChainUnaryInterceptor(c.wire.unary),
		grpc.WithChainStreamInterceptor(stream),
		// Detect within 25 seconds that a connection has silently died.
		grpc.WithKeepaliveParams(keepalive.ClientParameters{
			Time: 15 * time.Second, Timeout: 10 * time.Second, PermitWithoutStream: true,
		}),
		grpc.WithConnectParams(grpc.ConnectParams{
			Backoff: grpcbackoff.Config{
				BaseDelay: 200 * time.Millisecond, Multiplier: 1.6, Jitter: 0.2, MaxDelay: 3 * time.Second,
			},
			MinConnectTimeout: 5 * time.Second,
		}),
	)
	c.conn, err = grpc.NewClient(uri, append(options, config.DialOptions...)...)
	if err != nil {
		c.end()
		return nil, fmt.Errorf("server %q: %w", config.Target, err)
	}
	return c.As(config.Token), nil
}

// As returns a client that uses the same connection but acts for the account with the
// given token. Closing either client closes both.
func (c *Client) As(token string) *Client {
	other := c.with(new(bearer))
	other.SetToken(token)
	return other
}

// with returns a client that shares the connection but uses the given bearer.
func (c *Client) with(b *bearer) *Client {
	other := *c
	other.bearer = b
	other.SetToken("")
	conn := authorized{c.conn, b}
	other.Games = pb.NewGameServiceClient(conn)
	other.Leaderboard = pb.NewLeaderboardServiceClient(conn)
	other.Challenges = pb.NewChallengeServiceClient(conn)
	other.Players = pb.NewPlayerServiceClient(conn)
	return &other
}

func (c Config) encrypted() bool { return c.TLS || c.CAFile != "" }

func (c Config) transport() (credentials.TransportCredentials, error) {
	if !c.encrypted() {
		return insecure.NewCredentials(), nil
	}
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	if c.CAFile != "" {
		pem, err := os.ReadFile(c.CAFile)
		if err != nil {
			return nil, fmt.Errorf("certificate authorities: %w", err)
		}
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM(pem) {
			return nil, errors.New("certificate authorities: no certificate in " + c.CAFile)
		}
	}
	return credentials.NewTLS(config), nil
}

// Close closes the connection and ends every call and Watch that uses it. The error of a
// Watch, or of a call that is retried until ctx is done, then matches context.Canceled.
// It is safe to call Close more than once; later calls return nil.
func (c *Client) Close() error {
	c.end()
	if err := c.conn.Close(); status.Code(err) != codes.Canceled { // Canceled: it was closed before.
		return err
	}
	return nil
}

// ended returns ctx.Err() if ctx is done, an *Error if the client is closed, and nil
// otherwise.
func (c *Client) ended(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if c.closed.Err() != nil {
		return &Error{Code: codes.Canceled, Message: "the client is closed"}
	}
	return nil
}

// Conn returns the connection, for services outside the contract such as health checks.
// Calls on it carry the account's token and return *Error errors.
func (c *Client) Conn() grpc.ClientConnInterface { return authorized{c.conn, c.bearer} }

// Target returns the server's address in its NormalTarget form, which is the key of the
// server's credential in a Store.
func (c *Client) Target() string { return c.target }

// SetToken sets the token ("<player id>.<secret>") of the account that later calls act
// for. An empty token means no account.
func (c *Client) SetToken(token string) { c.bearer.token.Store(&token) }

// PlayerID returns the id of the account that the client acts for, or "" if it acts for
// none. For a Session with a key, the id is known once Me or CreatePlayer has returned
// it.
func (c *Client) PlayerID() string {
	if id := c.bearer.player.Load(); id != nil {
		return *id
	}
	return idOf(c.token())
}

func (c *Client) token() string { return *c.bearer.token.Load() }
