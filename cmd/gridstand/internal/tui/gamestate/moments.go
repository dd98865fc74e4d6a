package gamestate

import (
	"github.com/gridstand/gridstand/internal/describe"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// goalTile is the smallest tile that is celebrated.
const goalTile = 2048

// SetRecord sets the best score of the user's earlier games. Once the game's score exceeds it, the user is told.
func (s *State) SetRecord(score int32) { s.record = score }

// Record reports whether the game's score exceeds that of the user's earlier games, if there are any.
func (s *State) Record() bool {
	return s.record > 0 && s.Game.GetRanked() && s.Score() > s.record
}

// milestone returns the text that celebrates the last event, or "". before is the board before it, and
// score the score.
func (s *State) milestone(before *pb.Twenty48Board, score int32) string {
	if before == nil || s.Twenty48() == nil {
		return ""
	}
	s.largest = max(s.largest, describe.LargestTile(before))
	switch tile := describe.LargestTile(s.Twenty48()); {
	case tile > s.largest && tile >= goalTile:
		return describe.NewTile(tile)
	case score <= s.record && s.Record():
		return describe.NewBest()
	}
	return ""
}
