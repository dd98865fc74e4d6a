package profile

import (
	"cmp"
	"context"
	"slices"

	"github.com/gridstand/gridstand/game/replay"
	"github.com/gridstand/gridstand/server/internal/challenge"
	profilev1 "github.com/gridstand/gridstand/server/internal/profile/v1"
)

// MaxRaces is the maximum number of races that a profile lists.
const MaxRaces = 50

// recordRace adds a race to the profiles of its players if it is over. It is idempotent.
func (s *Profiles) recordRace(ctx context.Context, race *challenge.Challenge) error {
	final, err := s.Challenges.FinalStates(ctx, race)
	if err != nil || final == nil {
		return err
	}
	for i, e := range race.Entrants {
		if e.Bot != "" || !final[i].Ranked {
			continue
		}
		of := raceOf(race, final, i)
		if err := s.change(ctx, e.Player.ID, func(p *profilev1.Profile) bool { return addRace(p, of) }); err != nil {
			return err
		}
	}
	return nil
}

// raceOf returns a race that is over as the profile of an entrant shows it, without the results that
// do not count.
func raceOf(race *challenge.Challenge, final []*replay.State, entrant int) *profilev1.Race {
	points := func(i int) int32 { return final[i].Position.Scores()[0] }
	of := &profilev1.Race{Id: race.ID, Won: points(entrant) > 0}
	for i, e := range race.Entrants {
		of.TimeMs = max(of.TimeMs, final[i].UpdateTime.UnixMilli())
		if i == entrant || e.Bot == "" && !final[i].Ranked {
			continue
		}
		// The order of the standings.
		behind := cmp.Or(cmp.Compare(points(i), points(entrant)),
			race.Ended(final[entrant].UpdateTime).Compare(race.Ended(final[i].UpdateTime)), cmp.Compare(entrant, i)) > 0
		of.Won = of.Won && !behind
		switch {
		case e.Bot != "":
		case points(entrant) == 0 && points(i) == 0:
			of.Level = append(of.Level, e.Player.ID)
		case behind:
			of.Better = append(of.Better, e.Player.ID)
		default:
			of.Worse = append(of.Worse, e.Player.ID)
		}
	}
	return of
}

// addRace adds a race to a profile, and reports whether it had not been counted.
func addRace(p *profilev1.Profile, race *profilev1.Race) bool {
	races := p.GetRaces()
	if slices.ContainsFunc(races, func(r *profilev1.Race) bool { return r.GetId() == race.GetId() }) {
		return false
	}
	if len(races) >= MaxRaces && race.GetTimeMs() < races[0].GetTimeMs() {
		return false
	}
	races = append(races, race)
	slices.SortStableFunc(races, func(a, b *profilev1.Race) int { return cmp.Compare(a.GetTimeMs(), b.GetTimeMs()) })
	p.Races = races[max(0, len(races)-MaxRaces):]
	return true
}

// Rival is a player of races in which another player took part.
type Rival struct {
	PlayerID string
	// Won is the number of races in which the other player had a better result, Lost that in which the
	// rival had.
	Won, Lost int32
}

// Rivals returns the other players of a profile's races, those of the latest race first.
func Rivals(p *profilev1.Profile) []*Rival {
	var rivals []*Rival
	byID := map[string]*Rival{}
	met := func(playerID string) *Rival {
		if byID[playerID] == nil {
			byID[playerID] = &Rival{PlayerID: playerID}
			rivals = append(rivals, byID[playerID])
		}
		return byID[playerID]
	}
	for _, race := range slices.Backward(p.GetRaces()) {
		for _, playerID := range race.GetBetter() {
			met(playerID).Lost++
		}
		for _, playerID := range race.GetWorse() {
			met(playerID).Won++
		}
		for _, playerID := range race.GetLevel() {
			met(playerID)
		}
	}
	return rivals
}
