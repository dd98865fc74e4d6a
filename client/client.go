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

	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// Config says which server to connect to, and how. The zero Config is the server on
// this machine, without TLS and without an account.
type Config struct {
	// Target is "host:port", or several of them separated by commas, or
	// "dns:///name" for all addresses of a name. Calls are spread over them. The
	// default port is 2048. Empty means DefaultTarget.
	Target string

	// TLS encrypts the connection and checks the server's certificate.
	TLS bool

	// CAFile is a PEM file with the certificate authorities to trust instead of the
	// system's. It implies TLS.
	CAFile string

	// CertFile and KeyFile are PEM files with a client certificate and its key, for
	// servers that require one. They imply TLS.
	CertFile, KeyFile string

	// Token of the account to act for, empty for none; see Client.SetToken.
	Token string

	// UserAgent names the program to the server; it may be empty.
	UserAgent string

	// DialOptions override the client's own. Set TLS by the fields above: with
	// transport credentials given here, Client.Exposed and Credential.TLS are wrong.
	DialOptions []grpc.DialOption
}

// Client is a connection to a server, or to several that serve the same games, and
// the account that it acts for. Its methods are safe for concurrent use. An error that
// a server or gRPC returns, also to a call through its fields, is or wraps an *Error.
//
// A call through its fields ends after 10 seconds at most, except Watch, and is made up
// to 4 times if no server is available. So set CreateGameRequest.request_id,
// CreatePlayerRequest.secret and ResignRequest.seat; NewGame, CreatePlayer and Seat do.
type Client struct {
	// Games creates, lists, plays and shows games.
	Games pb.GameServiceClient
	// Leaderboard lists scores and ranks.
	Leaderboard pb.LeaderboardServiceClient
	// Players creates and shows accounts.
	Players pb.PlayerServiceClient

	conn      *grpc.ClientConn
	target    string
	encrypted bool // as the Config says
	exposed   bool
	bearer    *bearer

	closed context.Context // ends with Close
	end    context.CancelFunc

	// newBackOff returns the waits between retries; tests shorten them.
	newBackOff func() *backoff.ExponentialBackOff
	// idleTimeout is the time without a message after which a stream is broken.
	idleTimeout time.Duration
}

// serviceConfig spreads calls over all addresses and retries those that failed with
// UNAVAILABLE, after the pause that the server asks for (grpc-retry-pushback-ms) if
// it does. Calls do not wait for a server to appear: if connections are refused they
// fail after 0.1 + 0.2 + 0.4 seconds. It does not retry Watch, which resumes by itself.
const serviceConfig = `{
  "loadBalancingConfig": [{"round_robin": {}}],
  "methodConfig": [
    {"name": [{"service": "gridstand.v1.GameService", "method": "Watch"}]},
    {
      "name": [
        {"service": "gridstand.v1.GameService"},
        {"service": "gridstand.v1.LeaderboardService"},
        {"service": "gridstand.v1.PlayerService"}
      ],
      "timeout": "10s",
      "retryPolicy": {
        "maxAttempts": 4,
        "initialBackoff": "0.1s",
        "maxBackoff": "1s",
        "backoffMultiplier": 2,
        "retryableStatusCodes": ["UNAVAILABLE"]
      }
    }
  ]
}`

// idleTimeout is three times the longest time between two messages of a stream,
// which is 20 seconds.
const idleTimeout = 60 * time.Second

// Dial returns a client, to be closed after use. It does not connect yet: the first
// call does. It fails within about a second if the connection is refused, and within
// 10 seconds if nothing answers. The error says what is wrong with the Config.
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

	wire := &wire{encrypted: config.encrypted()}
	uri, options := to.dial()
	options = append(
		options,
		grpc.WithTransportCredentials(transport),
		grpc.WithUserAgent(config.UserAgent),
		grpc.WithDefaultServiceConfig(serviceConfig),
		// Ignore a service config from DNS.
		grpc.WithDisableServiceConfig(),
		grpc.WithChainUnaryInterceptor(wire.unary),
		grpc.WithChainStreamInterceptor(wire.stream),
		// Detect a connection that died without notice within 25 seconds.
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

// As returns a client that acts for another account, by its token, over the same
// connection. Close on either closes both.
func (c *Client) As(token string) *Client {
	other := c.with(new(bearer))
	other.SetToken(token)
	return other
}

// with returns a client with another bearer over the same connection.
func (c *Client) with(b *bearer) *Client {
	other := *c
	other.bearer = b
	other.SetToken("")
	conn := authorized{c.conn, b}
	other.Games = pb.NewGameServiceClient(conn)
	other.Leaderboard = pb.NewLeaderboardServiceClient(conn)
	other.Players = pb.NewPlayerServiceClient(conn)
	return &other
}

func (c Config) encrypted() bool { return c.TLS || c.CAFile != "" || c.CertFile != "" }

func (c Config) transport() (credentials.TransportCredentials, error) {
	config, err := c.tls()
	if err != nil {
		return nil, err
	}
	if config == nil {
		return insecure.NewCredentials(), nil
	}
	return credentials.NewTLS(config), nil
}

// tls returns the TLS configuration, nil for clear text.
func (c Config) tls() (*tls.Config, error) {
	if (c.CertFile == "") != (c.KeyFile == "") {
		return nil, errors.New("a certificate and its key go together")
	}
	if !c.encrypted() {
		return nil, nil
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
	if c.CertFile != "" {
		certificate, err := tls.LoadX509KeyPair(c.CertFile, c.KeyFile)
		if err != nil {
			return nil, fmt.Errorf("certificate: %w", err)
		}
		config.Certificates = []tls.Certificate{certificate}
	}
	return config, nil
}

// Close ends the connection, and every call and Watch that uses it. The error of a
// Watch, or of a call that is retried until ctx ends, is then also context.Canceled.
func (c *Client) Close() error {
	c.end()
	return c.conn.Close()
}

// ended returns the error of ctx if it has ended, an *Error if the client is closed,
// else nil.
func (c *Client) ended(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return c.closedError()
}

// closedError returns the error of a closed client, nil of an open one.
func (c *Client) closedError() error {
	if c.closed.Err() == nil {
		return nil
	}
	return &Error{Code: codes.Canceled, Message: "the client is closed"}
}

// Conn returns the connection, for services outside the contract, such as health
// checks. Calls on it carry the account's token, and their errors are *Error.
func (c *Client) Conn() grpc.ClientConnInterface { return authorized{c.conn, c.bearer} }

// Target returns the server in its NormalTarget form, under which a Store keeps its
// credential.
func (c *Client) Target() string { return c.target }

// Exposed reports whether calls, and tokens with them, go to another machine in
// clear text, where others can read and change them.
func (c *Client) Exposed() bool { return c.exposed }

// SetToken changes the account that later calls act for, by its token
// "<player id>.<secret>"; empty means none.
func (c *Client) SetToken(token string) { c.bearer.token.Store(&token) }

// PlayerID returns the id of the account that the client acts for, empty for none. For a
// Session with a key it is known after Me or CreatePlayer.
func (c *Client) PlayerID() string {
	if id := c.bearer.player.Load(); id != nil {
		return *id
	}
	return idOf(c.token())
}

func (c *Client) token() string { return *c.bearer.token.Load() }
