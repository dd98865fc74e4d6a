package profile

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"google.golang.org/protobuf/proto"

	"github.com/gridstand/gridstand/game"
	"github.com/gridstand/gridstand/game/replay"
	"github.com/gridstand/gridstand/server/internal/challenge"
	profilev1 "github.com/gridstand/gridstand/server/internal/profile/v1"
)

// results returns n results of one player, oldest first, of which several have equal scores.
func results(n int) []Result {
	list := make([]Result, n)
	for i := range list {
		at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(i) * 7 * time.Hour)
		list[i] = Result{
			GameID: fmt.Sprintf("game%03d", i), Variant: []string{"classic", "tribolo"}[i%2], Score: int32(i * 37 % 50), Time: at,
			Won: i%4 == 1, Counts: i%5 != 0,
		}
		if i%3 == 0 {
			list[i].Day = DayOf(at)
		}
	}
	return list
}

// Ensure that a profile stays small, and that no game counts twice once newer ones have displaced it.
func TestAdd_Bounds(t *testing.T) {
	t.Parallel()
	p, games := &profilev1.Profile{}, results(1000)
	for _, r := range games {
		assert.True(t, add(p, r))
	}
	before := proto.CloneOf(p)
	for _, r := range games {
		assert.False(t, add(p, r))
	}
	assert.True(t, proto.Equal(before, p), "%v\n%v", before, p)
	assert.Len(t, p.GetLatest(), MaxLatest)
	assert.Equal(t, "game900", p.GetLatest()[0].GetId())
	assert.EqualValues(t, 500, p.GetVariants()[0].GetGames())
	assert.Zero(t, p.GetVariants()[0].GetWins())
	assert.EqualValues(t, 250, p.GetVariants()[1].GetWins())
	assert.EqualValues(t, 48, p.GetVariants()[0].GetBestScore())
	for _, d := range p.GetDailies() {
		assert.Greater(t, d.GetDay(), DayOf(games[999].Time)-RecentDays)
	}
	for d := range int32(200) {
		addDays(p, &profilev1.Run{First: 30_000 + 2*d, Days: 1})
	}
	assert.Len(t, p.GetRuns(), maxRuns)
	assert.Less(t, proto.Size(p), 8<<10)
}

func TestStreak(t *testing.T) {
	t.Parallel()
	const today = 20
	for _, c := range []struct {
		days            []int32
		streak, longest int32
	}{
		{nil, 0, 0},
		{[]int32{20}, 1, 1},
		{[]int32{19}, 1, 1},
		{[]int32{18}, 0, 1},
		{[]int32{20, 18, 19}, 3, 3},
		{[]int32{10, 11, 12, 13, 19, 20, 19}, 2, 4},
		{[]int32{10, 12, 11, 20}, 1, 3},
	} {
		p := &profilev1.Profile{}
		for _, d := range c.days {
			addDays(p, &profilev1.Run{First: d, Days: 1})
		}
		assert.Equal(t, c.streak, Streak(p, today), c.days)
		assert.Equal(t, c.longest, p.GetLongestRun(), c.days)
	}
}

// Ensure that games which a profile lacks are added, in whatever order they are read and however
// often, and that it keeps what the logs no longer contain.
func TestAdd_Missing(t *testing.T) {
	t.Parallel()
	count := func(p *profilev1.Profile, games []Result) *profilev1.Profile {
		for _, r := range games {
			add(p, r)
		}
		return p
	}
	for _, c := range []struct {
		name             string
		games            int
		recorded, logged [2]int
	}{
		{"the logs of deleted games", 300, [2]int{0, 300}, [2]int{200, 300}},
		{"games that were not recorded", 300, [2]int{0, 270}, [2]int{200, 300}},
		{"a lost profile", MaxLatest, [2]int{0, 0}, [2]int{0, MaxLatest}},
		{"a profile from before its games were counted", MaxLatest, [2]int{90, MaxLatest}, [2]int{0, MaxLatest}},
	} {
		games := results(c.games)
		all, p := count(&profilev1.Profile{}, games), count(&profilev1.Profile{}, games[c.recorded[0]:c.recorded[1]])
		logged := games[c.logged[0]:c.logged[1]]
		logged = slices.Concat(logged, logged[:50])
		rand.New(rand.NewPCG(1, 2)).Shuffle(len(logged), func(i, j int) { logged[i], logged[j] = logged[j], logged[i] })
		count(p, logged)
		for _, p := range []*profilev1.Profile{all, p} {
			slices.SortFunc(p.Variants, func(a, b *profilev1.Variant) int { return strings.Compare(a.GetId(), b.GetId()) })
		}
		assert.True(t, proto.Equal(all, p), "%s: %v\n%v", c.name, all, p)
	}
}

// Ensure that a race counts once, in whatever order races are recorded, and that the latest ones stay.
func TestAddRace(t *testing.T) {
	t.Parallel()
	races := make([]*profilev1.Race, MaxRaces+10)
	for i := range races {
		races[i] = &profilev1.Race{Id: fmt.Sprint("race", i), TimeMs: int64(i), Won: i%2 == 0, Better: []string{"bob"}, Worse: []string{"eve"}}
	}
	p := &profilev1.Profile{}
	for _, i := range rand.New(rand.NewPCG(1, 2)).Perm(len(races)) {
		addRace(p, races[i])
		assert.False(t, addRace(p, races[i]))
	}
	assert.Equal(t, races[10:], p.GetRaces())
	addRace(p, &profilev1.Race{Id: "last", TimeMs: 100, Better: []string{"eve"}, Worse: []string{"zoe"}, Level: []string{"kim"}})
	assert.Equal(t, []*Rival{{"eve", MaxRaces - 1, 1}, {"zoe", 1, 0}, {"kim", 0, 0}, {"bob", 0, MaxRaces - 1}}, Rivals(p))
}

// points is the position of an attempt.
type points struct {
	game.Position
	score int32
}

func (p points) Scores() []int32 { return []int32{p.score} }

// Ensure that of equal results the one is better that ranks first: that of the attempt that ended earlier. Running
// ones and those that the close ended keep the order of the roster, whenever that was logged. Without points, nobody
// wins.
func TestRaceOf(t *testing.T) {
	t.Parallel()
	won := func(loser string) *profilev1.Race { return &profilev1.Race{Won: true, Worse: []string{loser}} }
	lost := func(winner string) *profilev1.Race { return &profilev1.Race{Better: []string{winner}} }
	for _, tt := range []struct {
		status   replay.Status
		close    int64
		score    int32
		of, then *profilev1.Race
	}{
		{replay.Finished, 10, 0, &profilev1.Race{Level: []string{"bob"}}, &profilev1.Race{Level: []string{"ada"}}},
		{replay.Finished, 10, 4, won("bob"), lost("ada")},
		{replay.Active, 20, 4, won("bob"), lost("ada")},
		{replay.Finished, 20, 4, won("ada"), lost("bob")},
	} {
		race, states := &challenge.Challenge{CloseTime: time.UnixMilli(tt.close)}, []*replay.State(nil)
		for i, id := range []string{"ada", "bob"} {
			race.Entrants = append(race.Entrants, challenge.Entrant{Player: replay.Player{ID: id}})
			states = append(states, &replay.State{
				Status: tt.status, Position: points{score: tt.score}, UpdateTime: time.UnixMilli(12 - int64(i)), Ranked: true,
			})
		}
		for i, of := range []*profilev1.Race{tt.of, tt.then} {
			of.TimeMs = 12
			assert.True(t, proto.Equal(of, raceOf(race, race.Results(states), i)), of)
		}
	}
}
