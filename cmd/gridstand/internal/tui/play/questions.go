package play

import (
	tea "charm.land/bubbletea/v2"

	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/ui"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/widget"
	"github.com/gridstand/gridstand/internal/describe"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// question is a question together with the function to call if the answer is yes.
type question struct {
	widget.Question
	yes func() tea.Cmd
}

const cancel = "cancel" // label of the key n

// askQuit asks for confirmation before the user leaves a game that cannot be resumed.
func askQuit() *question {
	return &question{
		widget.Question{
			Title: "Quit this game?", Text: "It ends with this program. You cannot resume it.",
			Yes: "quit", No: "play on",
		},
		func() tea.Cmd { return ui.Back },
	}
}

// askUnranked asks for confirmation before a game becomes unranked.
func askUnranked(title, yes string, then func() tea.Cmd) *question {
	return &question{widget.Question{Title: title, Text: "This makes the game unranked.", Yes: yes, No: cancel}, then}
}

// askNew asks for confirmation before the user gives up the game. Unless it is an attempt,
// a new game follows.
func (p *Model) askNew() *question {
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
	return &question{widget.Question{Title: "Give up this game?", Text: text, Yes: "give up, new game", No: cancel}, p.giveUp}
}
