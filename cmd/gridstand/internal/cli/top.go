package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/gridstand/gridstand/client"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/gamestate"
	"github.com/gridstand/gridstand/internal/convert"
	"github.com/gridstand/gridstand/internal/describe"
	"github.com/gridstand/gridstand/internal/id"
	"github.com/gridstand/gridstand/internal/usage"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// windows maps the values of --window to those of the API.
var windows = map[string]pb.Window{
	"day": pb.Window_WINDOW_DAY, "week": pb.Window_WINDOW_WEEK, allTime: pb.Window_WINDOW_ALL_TIME,
}

// allTime is the value of --window for scores of any time.
const allTime = "all"

// topOptions are the flags of the top command.
type topOptions struct {
	window string
	me     bool
	limit  int
}

// neighbors returns the number of rows to request on each side of the user's own for --me. Of these rows, pages
// returns as many as --limit allows.
func (o topOptions) neighbors() int32 {
	const most = 50 // that a server returns
	if o.limit == 0 {
		return most
	}
	return int32(min(o.limit/2, most))
}

func (p *program) topCommand() *cobra.Command {
	var o topOptions
	cmd := &cobra.Command{
		Use:        "top [variant|daily|yesterday]",
		SuggestFor: []string{"leaderboard", "ranking", "rank", "score", "scores", "yesterday"},
		Short:      "Show a ranking; also: @player, a link, a date",
		Long: `Show a ranking: the best games of a variant (` + defaultVariant + ` by default), or the
attempts at a challenge, given by its id or a link. daily is today's daily game,
yesterday is the one before, and 2026-11-21 that of a day; days and weeks are in
UTC. They mean the server's first daily game; daily/vt100 is that of a variant.
@ada shows the player ada, with ranks, as ` + name + ` account @ada does.

A race lists all players with their current scores; other challenges list
finished attempts. Attempts in which a program moved do not count. An attempt is
in the ranking of its challenge and in no other.`,
		RunE: p.onReference(func(ctx context.Context, c *client.Client, r reference) error {
			switch _, ok := windows[o.window]; {
			case !ok:
				return usage.Errorf("--window must be day, week or all, not %q", o.window)
			case o.limit < 0:
				return usage.Errorf("--limit must not be negative")
			case r.player != "" && o != topOptions{window: allTime, limit: defaultLimit}:
				return usage.Errorf("--window, --me and --limit are for rankings, not for a player")
			case r.player != "":
				return p.printPlayer(ctx, c, r)
			}
			v, err := p.variantOr(ctx, c, r, "a challenge", func() error { return p.topOfChallenge(ctx, c, r, o) })
			if v == nil || err != nil {
				return err
			}
			return p.topOfVariant(ctx, c, v, o)
		}),
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVar(&o.window, "window", allTime, "day, week or all; for a variant")
	flags.BoolVar(&o.me, "me", false, "only your own rank and the ranks around it")
	p.addLimit(flags, &o.limit)
	return cmd
}

// topOfVariant shows the leaderboard of a variant.
func (p *program) topOfVariant(ctx context.Context, c *client.Client, v *pb.Variant, o topOptions) error {
	fetch := func(size int32, token string) ([]*pb.Entry, string, error) {
		request := &pb.ListScoresRequest{Variant: v.GetId(), Window: windows[o.window], PageSize: size, PageToken: token}
		reply, err := c.Leaderboard.ListScores(ctx, request)
		return reply.GetEntries(), reply.GetNextPageToken(), err
	}
	player := c.PlayerID()
	if p.over == nil { // marking a row needs no token
		cred, _, _ := p.store.Load(c.Target())
		player = cred.PlayerID
	}
	if o.me {
		if _, err := p.known(ctx, c); err != nil {
			return err
		}
		fetch = func(int32, string) ([]*pb.Entry, string, error) {
			request := &pb.GetRankRequest{Variant: v.GetId(), Window: windows[o.window], PlayerId: "me", Neighbors: o.neighbors()}
			reply, err := c.Leaderboard.GetRank(ctx, request)
			entries := append(reply.GetNeighbors(), reply.GetEntry()) // The neighbors do not include the entry.
			slices.SortStableFunc(entries, func(a, b *pb.Entry) int { return cmp.Compare(a.GetRank(), b.GetRank()) })
			return entries, "", err
		}
	}
	entries, more, err := pages(o.limit, fetch)
	play := p.typed("play", clean(v.GetId(), 24))
	switch {
	case errors.Is(err, client.ErrNoScore):
		within := map[string]string{"day": "today", "week": "this week", allTime: "yet"}[o.window]
		return missingf("none of your games of %s that count has ended %s; a game counts when it ends. Play: %s",
			clean(v.GetId(), 24), within, play)
	case err != nil:
		return err
	}
	return list[*pb.Entry]{
		all: entries, more: more, columns: rankingColumns(false),
		empty: "There are no scores on this board yet; a game counts when it ends. Be the first: " + play,
		row: func(e *pb.Entry) []string {
			return p.rankingRow(e, client.CleanName(e.GetPlayer().GetName()), player)
		},
	}.print(p)
}

// topOfChallenge shows the ranking of a challenge.
func (p *program) topOfChallenge(ctx context.Context, c *client.Client, r reference, o topOptions) error {
	switch _, window := windows[r.id]; {
	case r.game:
		return usage.Errorf("a ranking needs a variant or a challenge, not a game")
	case r.daily || id.Valid(r.id):
	case window:
		return usage.Errorf("%q is no variant; for its scores: %s", r.id, p.typed("top", "--window", r.id))
	default:
		return missingf("give %q, a link or the full id. For a player: %s", dailyWord,
			p.typed("top", strconv.Quote(atPlayer+clean(r.id, maxNameShown))))
	}
	player, err := p.known(ctx, c)
	if err != nil && o.me {
		return err
	}
	reply, err := p.find(ctx, c, r)
	if err != nil {
		return err
	}
	challenge := reply.GetChallenge()
	if o.window != allTime {
		return usage.Errorf("--window is for variants, and %s is a challenge", challenge.GetId())
	}
	request := &pb.ListStandingsRequest{ChallengeId: challenge.GetId()}
	if o.me {
		request.PlayerId, request.Neighbors = "me", o.neighbors()
	}
	var counts []int32
	rows, more, err := pages(o.limit, func(size int32, token string) ([]*pb.Standing, string, error) {
		if !o.me {
			request.PageSize, request.PageToken = size, token
		}
		page, err := c.Challenges.ListStandings(ctx, request)
		counts = append(counts, page.GetDistribution()...)
		return page.GetStandings(), page.GetNextPageToken(), err
	})
	switch {
	case errors.Is(err, client.ErrNoScore):
		return missingf("you are not on this board, which lists only finished attempts that count")
	case err != nil:
		return err
	}
	var empty string
	if len(rows) == 0 {
		empty = p.noAttempts(ctx, c, r, challenge)
	}
	race := challenge.GetKind() == pb.ChallengeKind_CHALLENGE_KIND_RACE
	return list[*pb.Standing]{
		title: gamestate.Title(challenge) + ": " + describe.ChallengeStage(challenge, reply.GetNow().AsTime()) + "\n",
		all:   rows, more: more, empty: empty, columns: rankingColumns(race),
		row: func(s *pb.Standing) []string {
			var progress []string
			if race {
				progress = []string{strconv.Itoa(int(s.GetLargestTile())), describe.Comma(s.GetMoveCount()), progressOf(challenge, s)}
			}
			return p.rankingRow(s, gamestate.Name(s), player.GetId(), progress...)
		},
		below: distribution(counts, rows, player.GetId()),
	}.print(p)
}

// distribution draws how many results are in each range of scores, with a mark below the player's own, if there
// are several results. rows has the best one first.
func distribution(counts []int32, rows []*pb.Standing, playerID string) string {
	const ranges = 12 // at most
	if len(rows) < 2 || len(counts) == 0 {
		return ""
	}
	counts = counts[:min(len(counts), ranges)]
	bars := convert.All(counts, func(n int32) rune { return describe.Bar(n, slices.Max(counts)) })
	best := rows[0].GetScore()
	text := fmt.Sprintf("\n%s  all results, from 0 to %s\n", string(bars), describe.Comma(best))
	own := slices.IndexFunc(rows, func(s *pb.Standing) bool {
		return playerID != "" && s.GetPlayer().GetId() == playerID
	})
	if own >= 0 {
		at := int64(rows[own].GetScore()) * int64(len(counts)) / max(int64(best)+1, 1)
		text += strings.Repeat(" ", min(max(int(at), 0), ranges)) + "^ you\n"
	}
	return text
}

// noAttempts says that a challenge has no results yet. For today's daily game, it names the command for yesterday's
// results, if there are any.
func (p *program) noAttempts(ctx context.Context, c *client.Client, r reference, challenge *pb.Challenge) string {
	const none = "No attempt that counts has finished yet."
	if r.daily && r.date == "" {
		r.date = describe.DayBefore(challenge)
		if _, err := p.find(ctx, c, r); err == nil {
			return none + "\nYesterday's results: " + p.typed("top", dailyOf(yesterdayWord, r.variant))
		}
	}
	return none
}

// rankingColumns returns the columns of a ranking.
func rankingColumns(race bool) []string {
	if race {
		return []string{"RANK>", "PLAYER", "SCORE>", "TILE>", "MOVES>", "STATUS", "GAME", "WHEN"}
	}
	return []string{"RANK>", "PLAYER", "SCORE>", "GAME", "WHEN"}
}

// ranked is a line of a ranking.
type ranked interface {
	gamestate.Ranked
	GetGameId() string
	GetTime() *timestamppb.Timestamp
}

// rankingRow returns the cells of a line, in which progress precedes the game. It marks the line of the
// player with the id marked.
func (p *program) rankingRow(r ranked, name, marked string, progress ...string) []string {
	rank := "-"
	if r.GetRank() > 0 {
		rank = describe.Comma(r.GetRank())
	}
	if marked != "" && r.GetPlayer().GetId() == marked {
		name += " ◂ you"
	}
	cells := append([]string{rank, name, describe.Comma(r.GetScore())}, progress...)
	return append(cells, clean(r.GetGameId(), 26), p.ago(r.GetTime()))
}

// progressOf returns a word for the progress of an attempt at a race.
func progressOf(challenge *pb.Challenge, s *pb.Standing) string {
	switch challenge.GetStatus() {
	case pb.ChallengeStatus_CHALLENGE_STATUS_WAITING, pb.ChallengeStatus_CHALLENGE_STATUS_SCHEDULED:
		return "waiting"
	case pb.ChallengeStatus_CHALLENGE_STATUS_OPEN:
		if !s.GetFinished() {
			return "playing"
		}
	}
	return "finished"
}
