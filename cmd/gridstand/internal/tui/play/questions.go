package play

import (
	tea "charm.land/bubbletea/v2"

	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/widget"
	"github.com/gridstand/gridstand/internal/describe"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

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
