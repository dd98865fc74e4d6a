package challenge

import (
	"fmt"
	"strconv"
	"strings"

	"charm.land/lipgloss/v2"

	"github.com/gridstand/gridstand/client"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/gamestate"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/ui"
	"github.com/gridstand/gridstand/internal/describe"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

func (p *page) View(width, height int) ui.View {
	t := p.env.Theme
	v := ui.View{Title: p.Title(), Left: []string{t.Bold().Render(p.Title())}, Right: []string{p.badge()}, Status: p.status()}
	if left := p.TimeLeft(); left != "" {
		v.Right = []string{left, p.badge()}
	}
	v.Body = p.body(width, height)
	return v
}

func (p *page) status() string {
	t := p.env.Theme
	switch {
	case p.ConnectionProblem() != "":
		return t.Bad().Render("! " + p.ConnectionProblem())
	case p.env.WatchOnly != "" && !p.Closed() && !(p.Race() && p.Open()):
		return t.Dim().Render(p.env.WatchOnly)
	case !p.watching && p.Race() && p.Open() && p.Entrant() == nil:
		return t.Warn().Render("It began without you: you only watch.")
	default:
		return ""
	}
}

// badge returns a label for the stage of the challenge.
func (p *page) badge() string {
	t := p.env.Theme
	if p.Reconnecting() {
		return t.Warn().Render("◌ reconnecting")
	}
	switch p.Stage() {
	case pb.ChallengeStatus_CHALLENGE_STATUS_WAITING:
		return t.Accent().Render("◌ waiting")
	case pb.ChallengeStatus_CHALLENGE_STATUS_SCHEDULED:
		return t.Accent().Render("◌ starting")
	case pb.ChallengeStatus_CHALLENGE_STATUS_OPEN:
		if p.Race() {
			return t.Good().Render("● live")
		}
		return t.Good().Render("● open")
	case pb.ChallengeStatus_CHALLENGE_STATUS_CLOSED:
		return t.Dim().Render("■ closed")
	default:
		return t.Dim().Render("◌ connecting")
	}
}

func (p *page) body(width, height int) string {
	t := p.env.Theme
	switch stage := p.Stage(); {
	case p.Challenge == nil:
		return t.Dim().Render("Loading …")
	case stage == pb.ChallengeStatus_CHALLENGE_STATUS_SCHEDULED:
		return p.countdown(width, height)
	case p.Race() && stage != pb.ChallengeStatus_CHALLENGE_STATUS_WAITING:
		return p.wall(width, height)
	case p.Race():
		taken := fmt.Sprintf("%d of %d", len(p.GetEntrants()), gamestate.MaxEntrants)
		return p.center(p.roster(min(width, paneWidth)-4, height-2), "Roster", taken, width, height)
	default:
		results := describe.Plural(p.Total, "result")
		return p.center(p.invitation(min(width, paneWidth)-4, height-2), "Ranking", results, width, height)
	}
}

// paneWidth is the maximum width of a pane, and linkRows the rows that a link may take in it.
const (
	paneWidth = 66
	linkRows  = 2
)

// center draws a pane around content.
func (p *page) center(content, title, foot string, width, height int) string {
	width = min(width, paneWidth)
	return ui.Pane{Titles: []string{title}, Focused: true, Foot: foot}.
		Draw(p.env.Theme, content, width, min(lipgloss.Height(content)+2, height))
}

// roster lists the entrants of a race that has not started.
func (p *page) roster(width, height int) string {
	t := p.env.Theme
	var lines []string
	ready, bots := true, false
	for _, e := range p.GetEntrants() {
		ready, bots = ready && e.GetReady(), bots || e.GetBot() != ""
		mark, state, ink := t.Dim().Render("·"), t.Dim().Render("not ready"), lipgloss.NewStyle()
		if e.GetReady() {
			mark, state = t.Good().Render("✓"), t.Good().Render("ready")
		}
		name := p.Name(e)
		if e == p.Entrant() {
			ink = t.Bold()
		}
		if p.GetCreator().GetId() != "" && e.GetPlayer().GetId() == p.GetCreator().GetId() {
			name += ", creator"
		}
		lines = append(lines, mark+" "+ink.Render(ui.Cell(name, width-3-lipgloss.Width(state))+" ")+state)
	}
	about := describe.Limit(p.GetLimit().AsDuration()) + " on the same tiles, " + client.CleanText(p.GetVariant(), ui.NameLimit) + "."
	rules := "It starts when everyone is ready or the creator starts it."
	switch start := p.GetStartTime(); {
	case start != nil:
		rules = "It starts in " + gamestate.Clock(start.AsTime().Sub(p.Now())) + ", or when everyone is ready."
	case len(p.GetEntrants()) == 1:
		rules = "It needs a second player or a bot to start."
	case ready && bots:
		rules = "Everyone is ready. If the race does not start, too many bots are playing: the creator can remove some, or start it later."
	case bots && len(p.GetEntrants()) == 2 && p.Entrant() != nil && !p.GetPrivate():
		rules = "Others see your race and can join as long as you wait. To race the bot alone, be ready."
	}
	if p.GetPrivate() {
		about += " Private."
	}
	blocks := []string{strings.Join(lines, "\n"), t.Dim().Render(ui.Wrap(about+" "+rules, width))}
	return ui.Stack(height, append(blocks, p.Invitation().Blocks(t, width, linkRows)...)...)
}

// countdown draws the number of seconds until the race opens, in large digits.
func (p *page) countdown(width, height int) string {
	t, number := p.env.Theme, strconv.Itoa(p.Countdown())
	if height >= ui.LargeHeight+2 {
		number = t.Large(number, width)
	}
	text := lipgloss.JoinVertical(lipgloss.Center, t.Accent().Bold(true).Render(number), "", t.Dim().Render("Get ready"))
	return ui.Stack(height, text)
}

// wall draws the boards of a race or, if they do not fit, the standings.
func (p *page) wall(width, height int) string {
	if boards, ok := p.Boards(width, height); ok {
		return boards
	}
	return p.center(p.Rows(p.Lines, min(width, paneWidth)-4, height-2), "Ranking", "", width, height)
}

// invitation draws the standings of a challenge, the user's result, how others can take
// part, and the conditions.
func (p *page) invitation(width, height int) string {
	t := p.env.Theme
	about := "The same tiles and one attempt for everyone, " + client.CleanText(p.GetVariant(), ui.NameLimit) + "."
	if limit := p.GetLimit(); limit != nil {
		about += " You have " + describe.Limit(limit.AsDuration()) + " once you start."
	}
	if p.Is(pb.ChallengeKind_CHALLENGE_KIND_REMATCH) {
		about += " Its tiles were already public, so its ranking proves nothing."
	}
	var blocks []string
	if a := p.Attempt; a != nil {
		text := "You have " + describe.Plural(a.GetScore(), "point") + "."
		if s := describe.Streak(a.GetDayStreak()); s != "" {
			text += " " + s + "."
		}
		blocks = append(blocks, t.Good().Render(ui.Wrap(text, width)))
	}
	blocks = append(append(blocks, p.Invitation().Blocks(t, width, linkRows)...), t.Dim().Render(ui.Wrap(about, width)))
	const rowsMin = 3
	standings := p.Rows(p.Lines, width, max(ui.Room(height, blocks...), rowsMin))
	if len(p.Lines) == 0 {
		standings = t.Dim().Render("No results yet.")
	}
	return ui.Stack(height, append([]string{standings}, blocks...)...)
}
