package tui

import (
	"fmt"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/gridstand/gridstand/client"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// newGame is the box in which a new game is described.
type newGame struct {
	variants []*pb.Variant
	fields   []field
	at       int
}

// field is something to choose: one of its values.
type field struct {
	label  string
	values []string
	at     int
}

// turnLimits are the clocks that the box offers; 0 is none.
var turnLimits = []time.Duration{
	0, 10 * time.Second, 30 * time.Second, time.Minute, 5 * time.Minute, time.Hour, 24 * time.Hour,
}

// The fields of the box; the seats follow.
const (
	fieldVariant = iota
	fieldClock
	fieldPrivate
	fieldSeats
)

// maxSeats is for how many the box has room. Of variants with more, whatever
// they are, the server decides who sits where.
const maxSeats = 12

// newDialog makes the box, with a variant chosen.
func newDialog(variants []*pb.Variant, chosen string) *newGame {
	n := &newGame{variants: variants}
	names := field{label: "variant"}
	for i, v := range variants {
		names.values = append(names.values, client.CleanText(v.GetId(), nameLimit))
		if v.GetId() == chosen {
			names.at = i
		}
	}
	clocks := field{label: "time for a move"}
	for _, limit := range turnLimits {
		clocks.values = append(clocks.values, span(limit))
	}
	n.fields = []field{names, clocks, {label: "private", values: []string{"no", "yes"}}}
	n.seat()
	return n
}

// span says how long a move may take.
func span(d time.Duration) string {
	switch {
	case d == 0:
		return "no limit"
	case d < time.Minute:
		return fmt.Sprintf("%.0f s", d.Seconds())
	case d < time.Hour:
		return fmt.Sprintf("%.0f min", d.Minutes())
	default:
		return fmt.Sprintf("%.0f h", d.Hours())
	}
}

// variant is the one chosen.
func (n *newGame) variant() *pb.Variant { return n.variants[n.fields[fieldVariant].at] }

// seat offers the seats of the variant, where it has several: the first is the
// player's, bots have the others.
func (n *newGame) seat() {
	n.fields = n.fields[:fieldSeats]
	v := n.variant()
	if v.GetSeats() < 2 || v.GetSeats() > maxSeats {
		return
	}
	values := []string{"me", "open"}
	for _, bot := range v.GetBots() {
		values = append(values, client.CleanText(bot, nameLimit))
	}
	for i := range int(v.GetSeats()) {
		f := field{label: strings.ToLower(ownerNames[i%len(ownerNames)]), values: values}
		if i > 0 {
			f.at = max(slices.Index(values, "greedy"), 1)
		}
		n.fields = append(n.fields, f)
	}
}

// choice is the game described.
func (n *newGame) choice() Choice {
	c := Choice{Variant: n.variant().GetId(), Options: client.GameOptions{
		Private: n.fields[fieldPrivate].at == 1, TurnLimit: turnLimits[n.fields[fieldClock].at],
	}}
	for _, f := range n.fields[fieldSeats:] {
		request := &pb.SeatRequest{}
		switch f.at {
		case 0:
			request.Occupant = &pb.SeatRequest_Caller{Caller: &pb.Caller{}}
		case 1:
			request.Occupant = &pb.SeatRequest_Open{Open: &pb.Open{}}
		default:
			request.Occupant = &pb.SeatRequest_Bot{Bot: n.variant().GetBots()[f.at-2]}
		}
		c.Options.Seats = append(c.Options.Seats, request)
	}
	return c
}

// inDialog handles a key while the box is open.
func (l *Lobby) inDialog(msg tea.KeyPressMsg) tea.Cmd {
	n := l.dialog
	turn := func(by int) {
		f := &n.fields[n.at]
		f.at = (f.at + by + len(f.values)) % len(f.values)
		if n.at == fieldVariant {
			n.seat()
		}
	}
	switch {
	case msg.Code == tea.KeyEscape, pressed(msg, l.keys.Leave):
		l.dialog = nil
	case msg.Code == tea.KeyEnter:
		return l.leave(n.choice())
	case pressed(msg, l.keys.Up):
		n.at = (n.at + len(n.fields) - 1) % len(n.fields)
	case pressed(msg, l.keys.Down):
		n.at = (n.at + 1) % len(n.fields)
	case msg.Code == tea.KeyLeft:
		turn(-1)
	case msg.Code == tea.KeyRight, msg.Code == tea.KeySpace:
		turn(1)
	}
	return nil
}

// dialogBox draws the box.
func (l *Lobby) dialogBox(airy bool) string {
	const labelWidth, valueWidth = 16, 14
	n := l.dialog
	var rows []string
	for i, f := range n.fields {
		mark, value := "  ", f.values[f.at]
		if i == n.at {
			mark, value = l.theme.accent().Render("▸ "), "‹ "+value+" ›"
		} else {
			value = "  " + value
		}
		rows = append(rows, mark+l.theme.dim().Render(pad(f.label, labelWidth))+l.theme.bold().Render(pad(value, valueWidth)))
	}
	return l.box("New game", lines(airy, strings.Join(rows, "\n"), "",
		l.choiceLine()))
}

func (l *Lobby) choiceLine() string {
	return l.base.choice("enter", "start") + "   " + l.base.choice("← →", "change") + "   " + l.base.choice("esc", "back")
}
