package lobby

import (
	"context"
	"time"

	"github.com/gridstand/gridstand/client"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/gamestate"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// preview is the live preview of the selected game.
type preview struct {
	id     string
	state  gamestate.State
	cancel context.CancelFunc // ends the stream; nil if there is no stream
}

// show makes g the previewed game. g may be nil.
func (v *preview) show(g *pb.Game, now time.Time) {
	v.leave()
	v.id, v.state = g.GetId(), gamestate.New(g)
	// The lists have just been loaded, so assume that the connection is good until the
	// stream reports otherwise.
	v.state.Update(client.Update{Connection: client.Connection{State: client.Live}}, now)
}

func (v *preview) leave() {
	if v.cancel != nil {
		v.cancel()
	}
	v.cancel = nil
}
