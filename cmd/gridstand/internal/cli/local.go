package cli

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"time"

	"github.com/adrg/xdg"
	"github.com/spf13/pflag"

	"github.com/gridstand/gridstand/client"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/ui"
	"github.com/gridstand/gridstand/internal/usage"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/server"
)

// Timeouts of a server in this program.
const (
	findTimeout = 3 * time.Second // for a server that is there already
	stopTimeout = 2 * time.Second // for the calls of watchers
)

// localFlags are the flags for a server in this program.
type localFlags struct {
	local, fresh, share bool
	data                string
}

func (o *localFlags) add(flags *pflag.FlagSet) {
	flags.BoolVar(&o.local, "local", false,
		"start a server in this program, at "+client.DefaultTarget+" or at --server,\nunless one is already running there")
	flags.BoolVar(&o.fresh, "fresh", false, "with --local: keep this game only until you quit; kept games stay as they are")
	flags.StringVar(&o.data, "data", "", "with --local: keep games in this `directory`"+defaultData())
	flags.BoolVar(&o.share, "share", false, "with --local: let other machines connect, in clear text")
}

// defaultData says where games are kept without --data.
func defaultData() string {
	if home := stateHome(); home != "" {
		return "\n(default " + home + ")"
	}
	return ""
}

// check returns an error for flags that do not go together.
func (o *localFlags) check(p *program, resume bool) error {
	switch {
	case !o.local && (o.fresh || o.share || o.data != ""):
		return usage.Errorf("--fresh, --data and --share are for --local")
	case o.fresh && o.data != "":
		return usage.Errorf("--fresh keeps nothing: omit --data")
	case o.fresh && resume:
		return usage.Errorf("--fresh begins with nothing: omit --resume")
	case o.local && (p.flags.tls || p.flags.ca != "" || p.flags.cert != ""):
		return usage.Errorf("--local starts its own server: omit --tls, --ca and --cert")
	}
	return nil
}

// resumeCommand is the command that starts the server again and resumes a game. server
// is the address if it is not the default one.
func (o *localFlags) resumeCommand(server string) string {
	command := name + " play --local --resume"
	if server != "" {
		command += " --server " + server
	}
	if o.data != "" {
		command += " --data " + o.data
	}
	return command
}

// stateHome is where this program keeps the games of --local, empty if the environment
// names no home of a user.
func stateHome() string {
	if _, err := os.UserHomeDir(); err != nil && os.Getenv("XDG_STATE_HOME") == "" {
		return ""
	}
	return filepath.Join(xdg.StateHome, "gridstand", "local")
}

// localServer is a server for play --local.
type localServer struct {
	// address to connect to.
	address string
	// ours reports that it runs in this program, and not in another one.
	ours bool
	// others is the address for other machines, empty without --share.
	others string
	// pages is what the pages need to know of it, nil if it is another program's.
	pages *ui.Local
	// stop ends it after the game.
	stop func()
}

// site is the address of its web pages for other machines, empty without --share.
func (l localServer) site() string {
	if l.others == "" {
		return ""
	}
	return "http://" + l.others
}

// startLocal starts a server in this program, at the address where other programs on
// the machine look for one, unless one is already running there. The caller calls stop
// after the game.
func (p *program) startLocal(ctx context.Context, o localFlags) (localServer, error) {
	address, err := client.NormalTarget(p.flags.server)
	if err == nil {
		_, _, err = net.SplitHostPort(address)
	}
	if err != nil {
		return localServer{}, usage.Errorf("--local starts one server, at a host:port, not at %.40q", p.flags.server)
	}
	p.noteOtherServer(address)
	elsewhere := fmt.Sprintf("Try another address: %s play --local --server localhost:2049", name)
	if findLocal(ctx, address) {
		if o.fresh || o.share || o.data != "" {
			return localServer{}, fmt.Errorf("a server is already running at %s, with its own settings. %s", address, elsewhere)
		}
		p.notef("A server is already running at %s; you play on that one.", address)
		return localServer{address: address, stop: func() {}}, nil
	}
	if !o.fresh && o.data == "" && p.state == "" {
		return localServer{}, usage.Errorf("--local needs --data, the directory for games, since HOME is not set; or add --fresh to keep nothing")
	}
	listener, err := o.listen(address)
	if err != nil {
		var wrong *usage.Error
		if errors.As(err, &wrong) {
			return localServer{}, err
		}
		return localServer{}, fmt.Errorf("cannot start a server at %s (%w). %s", address, err, elsewhere)
	}
	config := server.DefaultConfig()
	config.Listener = listener
	config.StopTimeout = stopTimeout
	config.OnlyUptime = true                      // a game waits for its player
	config.Exhibition = o.share                   // one player has no use for it
	config.Logger = slog.New(slog.DiscardHandler) // the screen is the player's
	file := filepath.Join(o.data, "local.db")
	if o.data == "" {
		file = filepath.Join(p.state, "local.db")
	}
	config.Store = server.File(file)
	if o.fresh {
		config.Store = server.Memory
	}
	// It ends after the screen, and not with it.
	serving, cancel := context.WithCancel(context.WithoutCancel(ctx))
	running, err := server.Start(serving, config)
	if err != nil {
		cancel()
		err = fmt.Errorf("cannot start a server: %w", err)
		if errors.Is(err, server.ErrInUse) {
			err = fmt.Errorf("%w. To play without the games in it, add --fresh", err)
		}
		return localServer{}, err
	}
	l := localServer{address: address, ours: true, stop: func() {
		cancel()
		if err := running.Wait(); err != nil {
			p.notef("The server in this program failed: %v", err)
		}
		if o.fresh {
			p.notef("The server in this program has ended, and its games with it.")
		} else {
			p.notef("The server in this program has ended. Its games are kept in %s.", file)
		}
	}}
	if o.share {
		_, port, _ := net.SplitHostPort(listener.Addr().String())
		l.others = net.JoinHostPort(ownHost(), port)
	}
	return l, nil
}

// noteOtherServer says so if $GRIDSTAND_SERVER is another server than that of --local.
func (p *program) noteOtherServer(address string) {
	variable := p.getenv(serverVariable)
	if p.flags.server != "" || variable == "" {
		return
	}
	if normal, err := client.NormalTarget(variable); err != nil || normal != address {
		p.notef("--local plays on a server of its own at %s, not on $%s, which is %s. To play there, omit --local.",
			address, serverVariable, clean(variable, 80))
	}
}

// listen listens at an address of this machine that other machines cannot reach, or at
// all addresses with --share.
func (o *localFlags) listen(address string) (net.Listener, error) {
	if o.share {
		_, port, _ := net.SplitHostPort(address)
		address = net.JoinHostPort("", port)
	}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, err
	}
	if tcp, ok := listener.Addr().(*net.TCPAddr); !o.share && (!ok || !tcp.IP.IsLoopback()) {
		_ = listener.Close()
		return nil, usage.Errorf("--local is for this machine only; with --share others can connect to %.40s", address)
	}
	return listener, nil
}

// ownHost returns the address, or else the name, by which other machines most likely
// reach this one.
func ownHost() string {
	// That of the route to a machine on the Internet. This sends nothing.
	if conn, err := net.Dial("udp", "192.0.2.1:9"); err == nil {
		defer func() { _ = conn.Close() }()
		if udp, ok := conn.LocalAddr().(*net.UDPAddr); ok && !udp.IP.IsLoopback() {
			return udp.IP.String()
		}
	}
	if host, err := os.Hostname(); err == nil {
		return host
	}
	return "localhost"
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
