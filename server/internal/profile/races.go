package profile

import (
	"cmp"
	"context"
	"slices"

	"github.com/gridstand/gridstand/server/internal/challenge"
	profilev1 "github.com/gridstand/gridstand/server/internal/profile/v1"
)

// MaxRaces is the maximum number of races that a profile lists.
const MaxRaces = 50

// recordRace adds a race to the profiles of its players if it is over. It is idempotent.
func (s *Profiles) recordRace(ctx context.Context, race *challenge.Challenge) error {
	states, over, err := s.Challenges.States(ctx, race)
	if err != nil || !over {
		return err
	}
	results := race.Results(states)
	for own, r := range results {
		e := race.Entrants[r.Entrant]
		if e.Bot != "" || !r.Ranked {
			continue
		}
		of := raceOf(race, results, own)
		if err := s.change(ctx, e.Player.ID, func(p *profilev1.Profile) bool { return addRace(p, of) }); err != nil {
			return err
		}
	}
	return nil
}

// raceOf returns a race that is over as the profile of the player with the result at the index own shows it,
// without the results that do not count.
func raceOf(race *challenge.Challenge, results []challenge.Result, own int) *profilev1.Race {
	of := &profilev1.Race{Id: race.ID, Won: own == 0 && results[own].Score > 0}
	for i, r := range results {
		of.TimeMs = max(of.TimeMs, r.Last.UnixMilli())
		switch e := race.Entrants[r.Entrant]; {
		case i == own || e.Bot != "" || !r.Ranked:
		case r.Score == 0 && results[own].Score == 0:
			of.Level = append(of.Level, e.Player.ID)
		case i < own:
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
