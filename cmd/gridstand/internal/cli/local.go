package cli

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"time"

	"github.com/gridstand/gridstand/client"
	"github.com/gridstand/gridstand/internal/usage"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/server"
)

// Timeouts of a server in this program.
const (
	findTimeout = 3 * time.Second // for a server that is there already
	stopTimeout = 2 * time.Second // for the calls of watchers
)

// startLocal starts a server in this program, at the address where other programs on
// the machine look for one, unless one is already running there; ours reports which
// of the two it is. The caller calls stop after the game.
func (p *program) startLocal(ctx context.Context) (address string, ours bool, stop func(), err error) {
	address, err = client.NormalTarget(p.flags.server)
	if err == nil {
		_, _, err = net.SplitHostPort(address)
	}
	if err != nil {
		return "", false, nil, usage.Errorf("--local starts one server, at a host:port, not at %.40q", p.flags.server)
	}
	if findLocal(ctx, address) {
		p.notef("A server is already running at %s; you play on that one.", address)
		return address, false, func() {}, nil
	}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return "", false, nil, fmt.Errorf("cannot start a server at %s (%w). "+
			"Try another address: %s play --local --server localhost:2049", address, err, name)
	}
	config := server.DefaultConfig()
	config.Listener = listener
	config.StopTimeout = stopTimeout
	config.Logger = slog.New(slog.DiscardHandler) // the screen is the player's
	// It ends after the screen, and not with it.
	serving, cancel := context.WithCancel(context.WithoutCancel(ctx))
	server, err := server.Start(serving, config)
	if err != nil {
		cancel()
		return "", false, nil, fmt.Errorf("server: %w", err)
	}
	return address, true, func() {
		cancel()
		if err := server.Wait(); err != nil {
			p.notef("The server in this program failed: %v", err)
		}
		p.notef("The server in this program has ended, and its games with it.")
	}, nil
}

// findLocal reports whether a server of Gridstand is at an address.
func findLocal(ctx context.Context, address string) bool {
	c, err := client.Dial(client.Config{Target: address})
	if err != nil {
		return false
	}
	defer func() { _ = c.Close() }()
	ctx, cancel := context.WithTimeout(ctx, findTimeout)
	defer cancel()
	_, err = c.Games.GetServerInfo(ctx, &pb.GetServerInfoRequest{})
	return err == nil
}
