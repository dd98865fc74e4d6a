package describe_test

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/gridstand/gridstand/internal/describe"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

var update = flag.Bool("update", false, "write the golden files")

// shareCase is a case of testdata/share.json, which the page's tests also read.
type shareCase struct {
	Challenge json.RawMessage `json:"challenge"`
	Score     int32           `json:"score"`
	Tiles     []int32         `json:"tiles"`
	Rank      int32           `json:"rank"`
	Total     int32           `json:"total"`
	DayStreak int32           `json:"dayStreak"`
	Link      string          `json:"link"`
	Want      shareWords      `json:"want"`
}

// shareWords holds the expected strings of a case.
type shareWords struct {
	Share      string `json:"share"`
	Summary    string `json:"summary"`
	Place      string `json:"place"`
	Percentile string `json:"percentile"`
	Streak     string `json:"streak"`
	Squares    string `json:"squares"`
	Challenge  string `json:"challenge"`
	Margin     string `json:"margin"`
}

// Ensure that results are described as in the golden file, which the page's tests also use.
func TestShare(t *testing.T) {
	t.Parallel()
	file := filepath.Join("testdata", "share.json")
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	var cases []shareCase
	require.NoError(t, json.Unmarshal(text, &cases))
	require.NotEmpty(t, cases)
	for i, c := range cases {
		var challenge pb.Challenge
		require.NoError(t, protojson.Unmarshal(c.Challenge, &challenge))
		r := describe.Result{
			Challenge: &challenge, Score: c.Score, Tiles: c.Tiles, Rank: c.Rank, Total: c.Total,
			DayStreak: c.DayStreak, Link: c.Link,
		}
		said := shareWords{
			Share: describe.Share(r), Place: describe.Place(c.Rank, c.Total),
			Percentile: describe.Percentile(c.Rank, c.Total), Streak: describe.Streak(c.DayStreak),
			Squares: describe.Squares(c.Tiles), Challenge: describe.Challenge(&challenge),
		}
		said.Summary = describe.Phrases(describe.Plural(c.Score, "point"), said.Place, said.Percentile, said.Streak)
		if target := challenge.GetTarget(); target != nil {
			said.Margin = describe.Margin(c.Score, target.GetScore(), target.GetPlayer().GetName())
		}
		if *update {
			cases[i].Want = said
			continue
		}
		assert.Equal(t, c.Want, said, "case %d", i)
	}
	if *update {
		lines := make([]string, len(cases)) // one per case
		for i, c := range cases {
			line, err := json.Marshal(c)
			require.NoError(t, err)
			lines[i] = string(line)
		}
		written := "[\n" + strings.Join(lines, ",\n") + "\n]\n"
		require.NoError(t, os.WriteFile(file, []byte(written), 0o600))
	}
}

// Ensure that the stage of a challenge includes the time left.
func TestChallengeStage(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	for want, c := range map[string]*pb.Challenge{
		"waiting for players":  {Status: pb.ChallengeStatus_CHALLENGE_STATUS_WAITING},
		"starts in 12 h":       {Status: pb.ChallengeStatus_CHALLENGE_STATUS_SCHEDULED, OpenTime: timestamppb.New(now.Add(12 * time.Hour))},
		"open, closes in 12 h": {Status: pb.ChallengeStatus_CHALLENGE_STATUS_OPEN, CloseTime: timestamppb.New(now.Add(12 * time.Hour))},
		"closed 5 min ago":     {Status: pb.ChallengeStatus_CHALLENGE_STATUS_CLOSED, CloseTime: timestamppb.New(now.Add(-5 * time.Minute))},
		"?":                    {},
		"starts in 3 s": {
			Kind: pb.ChallengeKind_CHALLENGE_KIND_RACE, Status: pb.ChallengeStatus_CHALLENGE_STATUS_SCHEDULED,
			OpenTime: timestamppb.New(now.Add(3 * time.Second)),
		},
	} {
		assert.Equal(t, want, describe.ChallengeStage(c, now))
	}
}
