package play

import (
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// aboutGame is the id of the game that a message is about.
type aboutGame string

func (a aboutGame) About() string { return string(a) }

type (
	// resignedMsg is the result of a resignation.
	resignedMsg struct {
		aboutGame
		event *pb.Event
		err   error
	}
	// createdMsg carries the new game.
	createdMsg struct {
		game *pb.Game
		err  error
	}
	// unmarkMsg is sent when a version's marks should disappear.
	unmarkMsg struct {
		aboutGame
		version int32
	}
	// clickMsg is a click on the board.
	clickMsg struct{ act func() Act }
)
