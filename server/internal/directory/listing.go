package directory

import (
	"slices"

	"github.com/gridstand/gridstand/game/replay"
)

// Of is the listing of a game at a state.
func Of(s *replay.State, watchers int) Listing {
	l := Listing{
		GameID: s.ID, Variant: s.Variant.ID, Status: Status(s.Status),
		Score: slices.Max(s.Position.Scores()), Updated: s.UpdateTime,
		Watchers: watchers, Private: s.Private, Players: []string{s.Creator.ID},
	}
	for _, seat := range s.Seats {
		if id := seat.Player.ID; id != "" && !slices.Contains(l.Players, id) {
			l.Players = append(l.Players, id)
		}
	}
	return l
}
