package gamestate

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"

	"charm.land/lipgloss/v2"

	"github.com/gridstand/gridstand/client"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/board"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/ui"
	"github.com/gridstand/gridstand/internal/convert"
	"github.com/gridstand/gridstand/internal/describe"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// titleLimit is the maximum length of a challenge's name, in characters.
const titleLimit = 60

// Title returns the name of the challenge, sanitized for the terminal.
func (c *Contest) Title() string { return Title(c.Challenge) }

// Title returns the name of a challenge, sanitized for the terminal, or "challenge" if c is nil.
func Title(c *pb.Challenge) string {
	if c == nil {
		return "challenge"
	}
	return client.CleanText(describe.Challenge(c), titleLimit)
}

// Who is an entrant or a line of the standings: a player or a bot.
type Who interface {
	GetPlayer() *pb.Player
	GetBot() string
}

// Name returns the name of an entrant or of a line of the standings, sanitized for the
// terminal.
func (c *Contest) Name(who Who) string {
	if c.env.Is(who.GetPlayer()) {
		return Name(who) + " (you)"
	}
	return Name(who)
}

// Name is like Contest.Name, but does not say who the user is.
func Name(who Who) string {
	if p := who.GetPlayer(); p != nil {
		return client.CleanName(p.GetName())
	}
	return client.CleanName(who.GetBot()) + " (bot)"
}

// TimeLeft returns the time left as styled text, or "" if the challenge is not open.
func (c *Contest) TimeLeft() string {
	left, ok := c.Left()
	if !ok || !c.Open() || left == 0 {
		return ""
	}
	return TimeLeft(c.env.Theme, left)
}

// Invitation returns the invitation to join the challenge, to play it if it is a daily game, or to see its standings
// if it is closed.
func (c *Contest) Invitation() ui.Invitation {
	i := ui.Invitation{What: "Others play it", Link: c.env.Link("/c/" + c.ID), Command: c.env.Invite("join", c.ID)}
	i.Waiting = c.Stage() == pb.ChallengeStatus_CHALLENGE_STATUS_WAITING
	switch {
	case c.Closed():
		i.What, i.Command = "", c.env.Invite("top", c.ID)
	case c.Race():
		i.What = "Others join"
	case c.Is(pb.ChallengeKind_CHALLENGE_KIND_DAILY) && c.GetVariant() != "classic":
		i.Command = c.env.Invite("daily", client.CleanText(c.GetVariant(), ui.NameLimit))
	case c.Is(pb.ChallengeKind_CHALLENGE_KIND_DAILY):
		i.Command = c.env.Invite("daily")
	}
	return i
}

// Ranked is a line of a ranking: of a challenge's standings or of a leaderboard.
type Ranked interface {
	GetPlayer() *pb.Player
	GetRank() int32
	GetScore() int32
}

// RankColumns returns the columns that every ranking has: the rank, the name and the score. Ranks and scores take no
// more columns than they need, which leaves room for names. The user's own line stands out.
func RankColumns[T Ranked](env *ui.Env, lines []T, name func(T) string) []ui.Column[T] {
	rankWidth, scoreWidth := 3, 6
	for _, line := range lines {
		rankWidth = max(rankWidth, len(describe.Comma(line.GetRank())))
		scoreWidth = max(scoreWidth, len(describe.Comma(line.GetScore())))
	}
	rank := func(line T) ui.Value {
		if line.GetRank() == 0 {
			return ui.Value{Text: "–", Style: env.Theme.Dim()}
		}
		return ui.Value{Text: describe.Comma(line.GetRank()), Style: env.Theme.Dim()}
	}
	cell := func(line T, text string) ui.Value {
		if env.Is(line.GetPlayer()) {
			return ui.Value{Text: text, Style: env.Theme.Good().Bold(true)}
		}
		return ui.Value{Text: text}
	}
	return []ui.Column[T]{
		ui.Numbers("#", rankWidth, rank),
		ui.Texts("PLAYER", 0, func(line T) ui.Value { return cell(line, name(line)) }),
		ui.Numbers("SCORE", scoreWidth, func(line T) ui.Value { return cell(line, describe.Comma(line.GetScore())) }),
	}
}

// Rows draws lines of the standings in at most width × rows. If there are too many, it draws those around the
// user's.
func (c *Contest) Rows(lines []*pb.Standing, width, rows int) string {
	const tileWidth, tileMin = 5, 38
	if len(lines) == 0 || rows < 1 {
		return ""
	}
	columns := RankColumns(c.env, lines, func(line *pb.Standing) string { return c.Name(line) })
	hasTile := func(line *pb.Standing) bool { return line.GetLargestTile() > 0 }
	if width >= tileMin && slices.ContainsFunc(lines, hasTile) {
		columns = append(columns, ui.Numbers("TILE", tileWidth, func(line *pb.Standing) ui.Value {
			tile := strings.TrimLeft(strconv.Itoa(int(line.GetLargestTile())), "0") // none before the first move
			return ui.Value{Text: tile, Style: c.env.Theme.Dim()}
		}))
	}
	if c.Race() && c.Open() {
		columns = append(columns, ui.Texts("", 1, c.sign))
	}
	mine := slices.IndexFunc(lines, func(line *pb.Standing) bool { return c.env.Is(line.GetPlayer()) })
	return ui.Table[*pb.Standing]{Columns: columns, Items: lines}.Draw(c.env.Theme, mine, false, width, rows)
}

// sign returns a symbol that shows whether a line's player is still playing.
func (c *Contest) sign(line *pb.Standing) ui.Value {
	if line.GetFinished() {
		return ui.Value{Text: "■", Style: c.env.Theme.Dim()}
	}
	return ui.Value{Text: "●", Style: c.env.Theme.Good()}
}

// Boards draws the followed boards in width × height, each below its player's rank, name
// and score. They keep their places until the race is closed, and then are in the order of the results.
// It returns false if no board is followed or not all of them fit.
func (c *Contest) Boards(width, height int) (string, bool) {
	entrants := c.followed()
	if c.Closed() {
		rank := func(e *pb.Entrant) int32 {
			return cmp.Or(c.Standing(e.GetGameId()).GetRank(), math.MaxInt32) // entrants without a rank come last
		}
		slices.SortStableFunc(entrants, func(a, b *pb.Entrant) int { return cmp.Compare(rank(a), rank(b)) })
	}
	return board.DrawGrid(c.env.Theme, convert.All(entrants, c.slot), width, height)
}

// slot returns the place of a board, below its player's rank, name and score. The leader has a star.
func (c *Contest) slot(e *pb.Entrant) board.Slot {
	t, line := c.env.Theme, c.Standing(e.GetGameId())
	place, ink := "", lipgloss.NewStyle()
	switch rank := strconv.Itoa(int(line.GetRank())); {
	case c.Leads(e.GetGameId()):
		ink = t.Accent().Bold(true)
		place = ink.Render(rank+" ★") + " "
	case line.GetRank() > 0:
		place = t.Accent().Render(rank) + " "
	}
	score := t.Bold().Render(describe.Comma(line.GetScore()))
	if line != nil && c.Open() {
		score += " " + c.sign(line).Render()
	}
	return board.Slot{Board: c.Games[e.GetGameId()].Board(), Name: place + ink.Render(c.Name(e)), Facts: score}
}
