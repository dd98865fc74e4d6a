package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"path/filepath"
	"time"

	"github.com/spf13/pflag"

	"github.com/gridstand/gridstand/client"
	"github.com/gridstand/gridstand/internal/usage"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/server"
)

// stopTimeout limits how long the server in this program waits for watchers' calls to end when it stops.
// Tests change it.
var stopTimeout = 2 * time.Second

// localFlags are the flags for the server in this program.
type localFlags struct {
	local, share bool
}

func (o *localFlags) add(flags *pflag.FlagSet) {
	flags.BoolVar(&o.local, "local", false,
		"start a server in this program, at "+client.DefaultTarget+" or at --server, but not at $"+serverVariable+
			", unless one is already running there; its games are kept in $XDG_STATE_HOME")
	flags.BoolVar(&o.share, "share", false, "as --local, and let other machines connect, in clear text")
}

// check makes --share imply --local, and returns an error for flags that cannot be combined.
func (o *localFlags) check(p *program) error {
	o.local = o.local || o.share
	if o.local && p.usesTLS() {
		return usage.Errorf("--local starts its own server: omit --tls and --ca")
	}
	return nil
}

// localServer is the server in this program.
type localServer struct {
	started bool
	// others is the address that other machines connect to, also for the web pages, and count returns the
	// number of connected ones; empty and nil without --share.
	others string
	count  func() int
}

// startLocal makes the program use a server at --server or the default address, where other programs
// on this machine find it. It starts the server in this program, unless one is already running there.
// The caller must call stop after the game.
func (p *program) startLocal(ctx context.Context, o localFlags) (stop func(), err error) {
	address, err := client.NormalTarget(p.flags.server)
	if err == nil {
		_, _, err = net.SplitHostPort(address)
	}
	if err != nil {
		return nil, usage.Errorf("--local starts one server, at a host:port, not at %.40q", p.flags.server)
	}
	p.flags.server = address
	if findLocal(ctx, address) {
		p.warnf("A server is already running at %s; you are playing on that server. "+
			"Others can join if it has --share.", address)
		return func() {}, nil
	}
	if p.state == "" {
		return nil, usage.Errorf("--local needs HOME, or XDG_CONFIG_HOME and XDG_STATE_HOME, to store your account and the games")
	}
	listener, err := o.listen(address)
	if err != nil {
		return nil, err
	}
	p.warned = true // The connection does not leave this program.
	p.local.started = true
	if o.share {
		_, port, _ := net.SplitHostPort(listener.Addr().String())
		p.local.others = net.JoinHostPort(ownHost(), port)
	}
	return p.serveLocal(ctx, o, listener)
}

// keepLocal is how long --local keeps games without moves, finished games and accounts. It is longer than
// on other servers, because the file belongs to the player, who may come back after a year for the record.
const keepLocal = 100 * 365 * 24 * time.Hour

// serveLocal starts the server in this program.
func (p *program) serveLocal(ctx context.Context, o localFlags, listener net.Listener) (stop func(), err error) {
	file := filepath.Join(p.state, "local.db")
	config := server.DefaultConfig()
	config.Listener, config.LoopbackOnly = listener, !o.share
	if o.share {
		config.PublicURL = "http://" + p.local.others
	}
	config.StopTimeout = stopTimeout
	config.AbandonAfter, config.KeepFinished, config.KeepAccounts = keepLocal, keepLocal, keepLocal
	config.Exhibition = o.share                   // useless unless others can connect
	config.Logger = slog.New(slog.DiscardHandler) // the log must not disturb the screen
	config.Store = server.File(file)
	end := "The server in this program has ended. Its games are stored in " + file + "."
	// Keep the server running until the screen has been closed, even if ctx is done first.
	serving, cancel := context.WithCancel(context.WithoutCancel(ctx))
	running, err := server.Start(serving, config)
	if err != nil {
		cancel()
		if wrong, ok := errors.AsType[*server.ConfigError](err); ok {
			err = wrong.Err // which does not begin with a flag of gridstand-server
		}
		return nil, fmt.Errorf("cannot start a server: %w. To play on a server that is running: %s",
			err, commandFor([]string{"--server", "<its address>"}, "play"))
	}
	if o.share {
		p.local.count = func() int { return max(running.Clients()-1, 0) }
	}
	return func() {
		cancel()
		if err := running.Wait(); err != nil {
			p.notef("The server in this program failed: %v", err)
		}
		p.notef("%s", end)
	}, nil
}

// listen listens on a loopback address, which other machines cannot reach, or on all
// addresses with --share.
func (o *localFlags) listen(address string) (net.Listener, error) {
	flag := "--local"
	if o.share {
		_, port, _ := net.SplitHostPort(address)
		address, flag = net.JoinHostPort("", port), "--share"
	}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		other := commandFor([]string{flag, "--server", "localhost:2049"}, "play")
		return nil, fmt.Errorf("cannot start a server at %s (%w). "+
			"Try another address, at which you have another account: %s", address, err, other)
	}
	if tcp, ok := listener.Addr().(*net.TCPAddr); !o.share && (!ok || !tcp.IP.IsLoopback()) {
		_ = listener.Close()
		return nil, usage.Errorf("--local is for this machine only; add --share to let others connect to %.40s", address)
	}
	return listener, nil
}

// ownHost returns the address that other machines can most likely use to reach this one.
func ownHost() string {
	// Use the source address of the route to the Internet. Dialing UDP does not send a
	// packet.
	if conn, err := net.Dial("udp", "192.0.2.1:9"); err == nil {
		defer func() { _ = conn.Close() }()
		if udp, ok := conn.LocalAddr().(*net.UDPAddr); ok && !udp.IP.IsLoopback() {
			return udp.IP.String()
		}
	}
	addresses, _ := net.InterfaceAddrs()
	return addressOf(addresses)
}

// addressOf returns the first address that other machines can use, or "localhost". The name of this
// machine is no substitute, because other machines usually do not know it.
func addressOf(addresses []net.Addr) string {
	for _, address := range addresses {
		if network, ok := address.(*net.IPNet); ok && network.IP.IsGlobalUnicast() {
			return network.IP.String()
		}
	}
	return "localhost"
}

// findLocal reports whether a Gridstand server is running at an address.
func findLocal(ctx context.Context, address string) bool {
	// Usually, none is. Repeating the call would delay each start by 0.7 s.
	c, err := client.Dial(client.Config{Target: address, Once: true, DialOptions: dialOptions})
	if err != nil {
		return false
	}
	defer func() { _ = c.Close() }()
	_, err = c.Games.GetServerInfo(ctx, &pb.GetServerInfoRequest{})
	return err == nil
}
