package gamestate

import (
	"time"

	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// Rank is the class of a live game for TV, the best one first. The page has the same order.
type Rank int

// The classes. A game is in motion if its last event was less than MotionTime ago.
const (
	Watched Rank = iota // in motion, with watchers
	InMotion
	Exhibition
	Begun // has moves, but is not in motion
	NoMove
)

// MotionTime is how long a game is in motion after an event.
const MotionTime = 10 * time.Second

// RankOf returns the class of a live game.
func RankOf(g *pb.Game, now time.Time) Rank {
	switch {
	case g.GetPosition().GetMoveCount() == 0:
		return NoMove
	case g.GetExhibition():
		return Exhibition
	case now.Sub(g.GetUpdateTime().AsTime()) >= MotionTime:
		return Begun
	case g.GetWatchers() > 0:
		return Watched
	}
	return InMotion
}
