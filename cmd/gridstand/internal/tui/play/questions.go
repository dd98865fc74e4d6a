package play

import (
	tea "charm.land/bubbletea/v2"

	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/gamestate"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/ui"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/widget"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// question is a question, and what to do if the answer is yes.
type question struct {
	widget.Question
	yes func() tea.Cmd
}

const cancel = "cancel" // what n does

// askQuit asks before the page of a game that cannot be resumed closes.
func askQuit() *question {
	return &question{
		widget.Question{
			Title: "Quit this game?", Text: "It ends with this program and cannot be resumed.",
			Yes: "quit", No: "play on",
		},
		func() tea.Cmd { return ui.Back },
	}
}

// askUnranked asks before a game is no longer ranked.
func askUnranked(title, yes string, then func() tea.Cmd) *question {
	return &question{widget.Question{Title: title, Text: "The game is then unranked.", Yes: yes, No: cancel}, then}
}

// askNew asks before the game is given up for a new one.
func askNew(s *seated, then func() tea.Cmd) *question {
	text := "Its " + gamestate.Comma(s.Score()) + " points count."
	switch {
	case s.Game.GetStatus() == pb.GameStatus_GAME_STATUS_WAITING:
		text = "It has not started."
	case !s.alone():
		text = "The others play on without you."
	case len(s.Game.GetSeats()) > 1:
		text = "The bots do not play on."
	case !s.Game.GetRanked():
		text = "It is not ranked."
	case s.Score() == 0:
		text = "It has no points yet."
	}
	return &question{widget.Question{Title: "Give this game up?", Text: text, Yes: "give up, new game", No: cancel}, then}
}
