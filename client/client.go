package client

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/cenkalti/backoff/v5"
	"google.golang.org/grpc"
	grpcbackoff "google.golang.org/grpc/backoff"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/keepalive"

	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

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

	// CertFile and KeyFile are PEM files with a certificate and its key, for
	// servers that let in only those who show one. They imply TLS.
	CertFile, KeyFile string

	// Token of the account to act for, empty for none. See Client.SetToken.
	Token string

	// UserAgent names the program to the server; it may be empty.
	UserAgent string

	// DialOptions come after the client's own and so override them.
	DialOptions []grpc.DialOption
}

// Client is a connection to a server (or to several that serve the same games)
// with the account it acts for. Its methods are safe for concurrent use. All
// errors of its calls, also of those made through the service fields, are or
// wrap an *Error, unless a comment says otherwise.
type Client struct {
	// Games creates, lists, plays and shows games.
	Games pb.GameServiceClient
	// Leaderboard answers who is best.
	Leaderboard pb.LeaderboardServiceClient
	// Players keeps the accounts.
	Players pb.PlayerServiceClient

	conn      *grpc.ClientConn
	target    string
	encrypted bool // as the Config says
	exposed   bool
	bearer    *bearer

	// newBackOff paces the tries after a failure; tests make it faster.
	newBackOff func() *backoff.ExponentialBackOff
	// idleTimeout is how long a Watch may bring nothing before it counts as broken.
	idleTimeout time.Duration
}

// serviceConfig spreads calls over all addresses and sends them again where a
// server says that it is not available. A server that asks for a pause gets it
// (grpc-retry-pushback-ms). Calls do not wait for a server to appear, so that
// its absence is an error soon: after 0.1 + 0.2 + 0.4 seconds. Watch resumes on
// its own and knows best how.
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

// A server sends at least every 20 seconds on a stream; thrice that is not slow
// but broken.
const idleTimeout = 60 * time.Second

// Dial makes a client. It does not wait for a connection: that is made with the
// first call, which fails within about a second where no server answers. The
// error tells of a Config that cannot be used. Close the client after use.
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

	wire := &wire{encrypted: config.encrypted()}
	uri, options := to.dial()
	options = append(
		options,
		grpc.WithTransportCredentials(transport),
		grpc.WithUserAgent(config.UserAgent),
		grpc.WithDefaultServiceConfig(serviceConfig),
		// The one above, and not what a name server may say.
		grpc.WithDisableServiceConfig(),
		grpc.WithChainUnaryInterceptor(wire.unary),
		grpc.WithChainStreamInterceptor(wire.stream),
		// A connection that is dead without a word is found out in 25 seconds.
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
		return nil, fmt.Errorf("server %q: %w", config.Target, err)
	}
	return c.As(config.Token), nil
}

// As is a client that acts for another account, by its token, over the same
// connection: for a program that plays for many. Close on either closes both.
func (c *Client) As(token string) *Client {
	other := *c
	other.bearer = new(bearer)
	other.SetToken(token)
	conn := authorized{c.conn, other.bearer}
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

// tls is how connections are encrypted, nil if they are not.
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

// Close ends the connection and every call and watcher that uses it.
func (c *Client) Close() error { return c.conn.Close() }

// Conn is the connection, for services besides those of the contract, such as
// health checks. Calls on it carry the account's token and fail with *Error.
func (c *Client) Conn() grpc.ClientConnInterface { return authorized{c.conn, c.bearer} }

// Target is the server in the form under which a Store keeps its credential;
// see NormalTarget.
func (c *Client) Target() string { return c.target }

// Exposed reports whether calls go to another machine in clear text, where
// others on the way can read and change them, tokens too.
func (c *Client) Exposed() bool { return c.exposed }

// SetToken changes the account that later calls act for; empty means none. A
// token is "<player id>.<secret>".
func (c *Client) SetToken(token string) { c.bearer.token.Store(&token) }

// PlayerID is the id of the account that the client acts for, empty for none.
func (c *Client) PlayerID() string { return idOf(c.token()) }

func (c *Client) token() string { return *c.bearer.token.Load() }
