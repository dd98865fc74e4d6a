package watch

import (
	"context"
	"math"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/gridstand/gridstand/client"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/ui"
	"github.com/gridstand/gridstand/internal/describe"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// curveLimit is the maximum number of versions of a game whose scores a replay draws.
const curveLimit = 20_000

// curve has the scores of a game, for the sparklines of its replay.
type curve struct {
	asked bool // whether the game's events were requested, until they have arrived
	// scores has the score of each seat, by version − 1.
	scores [][]int32
}

// extend adds the events after the last one, as far as they are known.
func (c *curve) extend(events map[int32]*pb.Event) {
	for len(c.scores) < curveLimit && events[int32(len(c.scores)+1)] != nil {
		c.add(events[int32(len(c.scores)+1)])
	}
}

// add adds an event if it is the next one.
func (c *curve) add(e *pb.Event) {
	if int(e.GetVersion()) == len(c.scores)+1 {
		c.scores = append(c.scores, e.GetPosition().GetScores())
	}
}

// loadCurve requests the events of the game that the curve of its replay lacks, unless there are too many.
func (g *game) loadCurve() tea.Cmd {
	if g == nil || g.state.Board() == nil || !g.lookingBack() {
		return nil
	}
	first, last := int32(len(g.curve.scores)), g.state.Game.GetVersion()
	if g.curve.asked || last <= first || last > curveLimit {
		return nil
	}
	g.curve.asked = true
	c, id, server := curve{scores: slices.Clip(g.curve.scores)}, g.id, g.env.Server
	return ui.Call(g.tasks, func(ctx context.Context) (curve, error) {
		err := read(ctx, server, id, first, func(u client.Update) bool {
			c.add(u.Event)
			return int32(len(c.scores)) < last
		})
		return c, err
	}, func(c curve, _ error) tea.Cmd {
		c.asked = int32(len(c.scores)) < last // After an error, it shows what it has.
		c.extend(g.past.events)
		g.curve = c
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
