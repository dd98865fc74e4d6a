package cli

import (
	"context"
	"errors"

	"github.com/gridstand/gridstand/client"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// lobby lets the user choose a game to play or to watch, and returns to the lobby
// after it, until the user leaves.
func (p *program) lobby(ctx context.Context) error {
	c, hangUp, err := p.dial()
	if err != nil {
		return err
	}
	defer hangUp()
	if _, err := c.Games.GetServerInfo(ctx, &pb.GetServerInfoRequest{}); err != nil {
		return err // rather than an empty screen
	}
	var missing *missingError
	if _, err := p.known(ctx, c); err != nil && !errors.As(err, &missing) {
		return err
	}
	problem := ""
	for {
		screen := tui.NewLobby(ctx, tui.NewServer(c), tui.LobbyConfig{Me: c.PlayerID(), Problem: problem, Clock: p.clock})
		if err := tui.Run(ctx, screen, p.screen()); err != nil {
			return err
		}
		choice := screen.Choice()
		if choice.Watch == "" && choice.Play == "" && choice.Join == "" && choice.Variant == "" && !choice.TV {
			return nil
		}
		problem = ""
		switch err := p.follow(ctx, c, choice); {
		case errors.Is(err, tui.ErrInterrupted), ctx.Err() != nil:
			return tui.ErrInterrupted
		case err != nil:
			problem = p.explain(err)
		}
	}
}

// follow runs the screen that the user chose.
func (p *program) follow(ctx context.Context, c *client.Client, choice tui.Choice) error {
	if choice.TV || choice.Watch != "" {
		return tui.Run(ctx, tui.NewWatch(ctx, tui.NewServer(c), p.watching(c, choice.Watch)), p.screen())
	}
	if c.PlayerID() == "" {
		if err := p.logIn(ctx, c); err != nil {
			return err
		}
	}
	var g client.Game
	var err error
	switch {
	case choice.Play != "":
		g, err = c.Game(ctx, choice.Play)
	case choice.Join != "":
		g, err = c.Join(ctx, choice.Join, nil)
	default:
		g, err = c.NewGame(ctx, choice.Variant, choice.Options)
	}
	if err != nil {
		return err
	}
	if c.Seat(g).Index() < 0 { // bots play, or others will
		return tui.Run(ctx, tui.NewWatch(ctx, tui.NewServer(c), p.watching(c, g.GetId())), p.screen())
	}
	return p.playScreen(ctx, c, tui.PlayConfig{Game: g.Game, Options: client.GameOptions{Private: g.GetPrivate()}})
}
