package play

import (
	"context"
	"errors"

	tea "charm.land/bubbletea/v2"

	"github.com/gridstand/gridstand/client"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/ui"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/widget"
	"github.com/gridstand/gridstand/internal/describe"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

type (
	// resignedMsg is the result of a resignation.
	resignedMsg struct {
		ui.GameID
		event *pb.Event
		err   error
	}
	// createdMsg carries the new game.
	createdMsg struct {
		game *pb.Game
		err  error
	}
)

// giveUp resigns the game, so that its score counts, and starts a new one.
func (p *page) giveUp() tea.Cmd {
	p.starting = true
	return p.resign()
}

// resign ends the game. Its points are kept.
func (p *page) resign() tea.Cmd {
	server, game := p.env.Server, p.opened
	return p.tasks.Do(func(ctx context.Context) tea.Msg {
		e, err := server.Resign(ctx, game)
		return resignedMsg{GameID: ui.GameID(game.GetId()), event: e, err: err}
	})
}

// resigned handles the reply to a resignation. Unless the game is an attempt, it then
// creates a new game, even if the old one turns out to be over or gone.
func (p *page) resigned(msg resignedMsg) tea.Cmd {
	switch {
	case msg.err == nil:
		p.Apply(msg.event)
	case errors.Is(msg.err, client.ErrGameOver), errors.Is(msg.err, client.ErrNotSeated),
		errors.Is(msg.err, client.ErrGameNotFound), errors.Is(msg.err, client.ErrGameDamaged):
	default:
		p.starting = false
		p.fail(msg.err)
		return nil
	}
	if p.contest != nil {
		return p.changed(true, nil)
	}
	return p.create()
}

func (p *page) create() tea.Cmd {
	p.starting = true
	server, variant, options := p.env.Server, p.opened.GetVariant(), p.nextOptions(p.options)
	return p.tasks.Do(func(ctx context.Context) tea.Msg {
		g, err := server.NewGame(ctx, variant, options)
		return createdMsg{game: g, err: err}
	})
}

func (p *page) created(msg createdMsg) tea.Cmd {
	if msg.err == nil && p.WrongKind(msg.game.GetPosition()) {
		msg.err = client.ErrBadStream
	}
	if msg.err != nil {
		p.starting = false
		p.fail(msg.err)
		return nil
	}
	var notice []string
	if p.Over() && len(p.Game.GetSeats()) == 1 {
		notice = []string{"The previous game ended with " + describe.Comma(p.Score()) + " points."}
	}
	p.open(msg.game)
	p.notice = notice
	return p.Init()
}

const cancel = "cancel" // label of the key n

// askUnranked asks for confirmation before a game becomes unranked.
func askUnranked(title, yes string, then func() tea.Cmd) *widget.Question {
	return &widget.Question{Title: title, Text: "This makes the game unranked.", Yes: yes, No: cancel, Then: then}
}

// askNew asks for confirmation before the user gives up the game. Unless it is an attempt,
// a new game follows.
func (p *page) askNew() *widget.Question {
	if p.contest != nil {
		return p.askGiveUp()
	}
	s := &p.seated
	text := "Its " + describe.Comma(s.Score()) + " points count."
	switch {
	case s.Game.GetStatus() == pb.GameStatus_GAME_STATUS_WAITING:
		text = "It has not started yet."
	case !s.alone():
		text = "The other players continue without you."
	case len(s.Game.GetSeats()) > 1:
		text = "The bots stop playing."
	case !s.Game.GetRanked():
		text = "It is not ranked."
	case s.Score() == 0:
		text = "It has no points yet."
	}
	return &widget.Question{Title: "Give up this game?", Text: text, Yes: "give up, new game", No: cancel, Then: p.giveUp}
}
