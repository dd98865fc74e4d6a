package watch

import (
	"context"
	"math"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/gridstand/gridstand/client"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/ui"
	"github.com/gridstand/gridstand/internal/describe"
)

// curveLimit is the maximum number of versions of a game whose scores a replay draws.
const curveLimit = 20_000

// curve has the scores of a finished game, for the sparklines of its replay.
type curve struct {
	asked bool // whether the game's events were requested
	// scores has the score of each seat, by version − 1.
	scores [][]int32
}

// loadCurve requests the events of a finished game once the user replays it, unless there are too many.
func (p *page) loadCurve() tea.Cmd {
	g, last := p.game, p.game.Game.GetVersion()
	if g.curve.asked || !g.Over() || !g.lookingBack() || last > curveLimit {
		return nil
	}
	g.curve.asked = true
	id, server := g.Game.GetId(), p.env.Server
	return ui.Call(p.Tasks, func(ctx context.Context) (scores [][]int32, err error) {
		err = read(ctx, server, id, 0, func(u client.Update) bool {
			scores = append(scores, u.Event.GetPosition().GetScores())
			return int32(len(scores)) < last
		})
		return scores, err
	}, func(scores [][]int32, err error) tea.Cmd {
		if err == nil {
			g.curve.scores = scores
		}
		return nil
	})
}

// sparklines draws the scores of each seat, up to the version that the user looks at in color. It returns
// "" while the scores are unknown.
func (g *game) sparklines(t ui.Theme, width int) string {
	c := &g.curve
	if !g.lookingBack() || len(c.scores) < 2 || width < 8 {
		return ""
	}
	last := len(c.scores) - 1
	width = min(width, last+1)
	most := int32(1)
	for _, scores := range c.scores {
		most = max(most, describe.Highest(scores))
	}
	now := min(int(math.Round(float64(g.position()-1)*float64(width-1)/float64(last)))+1, width)
	var lines []string
	for seat := range c.scores[0] {
		line := make([]rune, width)
		for x := range line {
			score := int32(0)
			if scores := c.scores[int(math.Round(float64(x)*float64(last)/float64(max(width-1, 1))))]; seat < len(scores) {
				score = scores[seat]
			}
			line[x] = describe.Bar(score, most)
		}
		ink := t.Accent()
		if len(c.scores[0]) > 1 {
			ink = t.Owner(seat)
		}
		lines = append(lines, ink.Render(string(line[:now]))+t.Faint().Render(string(line[now:])))
	}
	return strings.Join(lines, "\n")
}
