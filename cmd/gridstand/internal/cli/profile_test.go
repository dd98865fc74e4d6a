package cli

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// Ensure that a profile has a line for each variant, the streaks of daily games, and the races, also for a player
// of an absurd server.
func TestProfileText(t *testing.T) {
	t.Parallel()
	text := profileText(&pb.GetProfileResponse{
		Variants: []*pb.VariantRecord{
			{Variant: "classic", Games: 61, BestScore: 12340},
			{Variant: "tribolo", Games: 1, Wins: 1},
			{Variant: "twos", Games: 2, BestScore: 320},
			{Variant: "vt100", Games: 3, BestScore: 4096},
			{Variant: "3x3", Games: 1, BestScore: 100},
		},
		Daily: &pb.DailyRecord{Streak: 2, LongestStreak: 9},
		Races: &pb.RaceRecord{Total: 3, Won: 2, Rivals: []*pb.Rival{
			{Player: &pb.Player{Name: "bob"}, Won: 2, Lost: 1},
			{Player: &pb.Player{Name: "eve\x1b[2J"}, Won: 1},
			{Player: &pb.Player{Name: "zoe"}, Lost: 1},
		}},
	}, map[string]*pb.Entry{"classic": {Rank: 3, Score: 9876}, "vt100": {Rank: 1000, Score: 4096}, "3x3": {Rank: 2, Score: 500}})
	assert.Equal(t, "classic     best with challenges 12,340, rank 3 with 9,876, 61 games\n"+
		"tribolo     1 game, 1 won\n"+
		"twos        best 320, no rank, 2 games\n"+
		"vt100       best 4,096, rank 1,000, 3 games\n"+
		"3x3         best 500, rank 2, 1 game\n"+
		"daily       streak 2 days, longest 9 days\n"+
		"last races  won 2 of 3, 2–1 against bob, 1–0 against eve2J, 0–1 against\n"+
		"            zoe\n", text)
	assert.Empty(t, profileText(&pb.GetProfileResponse{}, nil))
}

// Ensure that a terminal gets only as many boards beside each other as fit.
func TestProfile_Narrow(t *testing.T) {
	t.Parallel()
	ada := newUser(t, someServer(t), "ada")
	for range recentGames {
		ada.ok("new")
	}
	for width, boards := range map[int]int{80: 3, 40: 2, 10: 1, 0: 3} {
		ada.terminal, ada.width = true, width
		assert.Equal(t, boards, strings.Count(ada.ok("account"), "classic "), "width %d", width)
	}
}

// Ensure that an account without scores is not said to have no finished games: it may have attempts without
// points.
func TestProfile_NoScores(t *testing.T) {
	t.Parallel()
	server, _ := serverAtNoon(t)
	ada := newUser(t, server, "ada")
	ada.ok("resign", strings.TrimSpace(ada.ok("join", "daily")))
	out, note, _ := ada.run("account")
	assert.Contains(t, out, "\n0, resigned\n")
	assert.Contains(t, note, "No scores yet. Play a game: gridstand play")
}
