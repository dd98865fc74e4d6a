package lobby

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"
	"charm.land/huh/v2"
	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/gridstand/gridstand/client"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/board"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/ui"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/widget"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// form describes a new game. Its fields are those of package huh, one line each. The form
// moves between them itself: huh does so by a message, and keys that come before it would
// change the wrong field.
type form struct {
	env      *ui.Env
	variants []*pb.Variant
	fields   *huh.Form
	last     huh.Field

	// The values of the fields. A seat is seatMe, seatOpen, or seatBots and the index of
	// a bot of the variant.
	variant   string
	turnLimit time.Duration
	private   bool
	seats     []int
}

// The values of a seat.
const (
	seatMe = iota
	seatOpen
	seatBots
)

// maxSeats is the most seats that the form has room for. If a variant has more, the server
// decides who sits where.
const maxSeats = 12

// turnLimits are the times per move that the form offers; 0 is no limit.
var turnLimits = []time.Duration{
	0, 10 * time.Second, 30 * time.Second, time.Minute, 5 * time.Minute, time.Hour, 24 * time.Hour,
}

// newForm makes the form with a variant chosen.
func newForm(env *ui.Env, variants []*pb.Variant, chosen string) *form {
	f := &form{env: env, variants: variants, variant: chosen}
	if variantOf(variants, chosen) == nil {
		f.variant = variants[0].GetId()
	}
	f.build()
	return f
}

// build makes the fields for the chosen variant.
func (f *form) build() {
	var variants []huh.Option[string]
	for _, v := range f.variants {
		variants = append(variants, huh.NewOption(clean(v.GetId()), v.GetId()))
	}
	var limits []huh.Option[time.Duration]
	for _, d := range turnLimits {
		limits = append(limits, huh.NewOption(limitText(d), d))
	}
	fields := []huh.Field{
		selectField(f.env, "variant", &f.variant, variants),
		selectField(f.env, "time per move", &f.turnLimit, limits),
		selectField(f.env, "private", &f.private, []huh.Option[bool]{
			huh.NewOption("no", false), huh.NewOption("yes, not in lists", true),
		}),
	}
	v := variantOf(f.variants, f.variant)
	f.seats = nil
	if n := v.GetSeats(); n > 1 && n <= maxSeats {
		f.seats = make([]int, n)
		occupants := []huh.Option[int]{huh.NewOption("me", seatMe), huh.NewOption("open", seatOpen)}
		for i, bot := range v.GetBots() {
			occupants = append(occupants, huh.NewOption("bot "+clean(bot), seatBots+i))
		}
		for i := range f.seats {
			if i > 0 {
				f.seats[i] = max(seatBots+slices.Index(v.GetBots(), "greedy"), seatOpen)
			}
			name := strings.ToLower(board.OwnerNames[i%len(board.OwnerNames)])
			fields = append(fields, selectField(f.env, name, &f.seats[i], occupants))
		}
	}
	f.last = fields[len(fields)-1]
	f.fields = huh.NewForm(huh.NewGroup(fields...)).WithShowHelp(false).WithTheme(formTheme(f.env, ""))
	f.fields.WithWidth(formWidth).WithHeight(len(fields))
	f.fields.Init() // focuses the first field; its command serves forms that are a program
}

// Widths of the form. In a window of 40 columns its box takes all of them.
const (
	formWidth  = 36
	labelWidth = 14
)

// selectField is a field on one line: its label, and the chosen option.
func selectField[T comparable](env *ui.Env, label string, value *T, options []huh.Option[T]) huh.Field {
	return huh.NewSelect[T]().Options(options...).Value(value).Inline(true).WithTheme(formTheme(env, label))
}

// formTheme is the theme of a field. huh writes labels above their fields; here they stand
// before them.
func formTheme(env *ui.Env, label string) huh.Theme {
	return huh.ThemeFunc(func(bool) *huh.Styles {
		t := env.Theme
		before := func(mark string, style lipgloss.Style) lipgloss.Style {
			return lipgloss.NewStyle().Transform(func(field string) string {
				return ansi.Truncate(mark+style.Render(widget.Pad(label, labelWidth))+field, formWidth, "")
			})
		}
		s := huh.ThemeBase(false)
		s.FieldSeparator = lipgloss.NewStyle().SetString("\n")
		s.Focused.Base, s.Blurred.Base = before(t.Accent().Render("▸ "), t.Bold()), before("  ", t.Dim())
		s.Focused.SelectedOption, s.Blurred.SelectedOption = t.Bold(), lipgloss.NewStyle()
		s.Focused.PrevIndicator = t.Accent().SetString("‹ ")
		s.Focused.NextIndicator = t.Accent().SetString(" ›")
		s.Blurred.PrevIndicator = lipgloss.NewStyle().SetString("  ")
		return s
	})
}

// limitText says how long a move may take.
func limitText(d time.Duration) string {
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

// The keys of the form.
var formKeys = struct{ Next, Prev, Change key.Binding }{
	Next:   ui.Bind("↓", "next field", "down", "tab"),
	Prev:   ui.Bind("↑", "previous field", "up", "shift+tab"),
	Change: ui.Bind("← →", "change", "left", "right"),
}

func (f *form) keys() ui.KeyMap {
	return ui.Keys(ui.Bind("↑ ↓", "field"), formKeys.Change, ui.Bind("r", "rules"), ui.Bind("enter", "start"), ui.Bind("esc", "close"))
}

// update handles a key.
func (f *form) update(msg tea.KeyPressMsg) tea.Cmd {
	switch {
	case ui.Pressed(msg, formKeys.Next):
		if f.fields.GetFocusedField() != f.last { // else huh ends the form
			f.fields.NextField()
		}
	case ui.Pressed(msg, formKeys.Prev):
		f.fields.PrevField()
	case ui.Pressed(msg, formKeys.Change):
		before := f.variant
		f.fields.Update(msg)
		if f.variant != before {
			f.build()
		}
	}
	return nil
}

// game is the game that the form describes.
func (f *form) game() ui.NewGame {
	g := ui.NewGame{Variant: f.variant, Options: client.GameOptions{Private: f.private, TurnLimit: f.turnLimit}}
	for _, seat := range f.seats {
		request := &pb.SeatRequest{}
		switch seat {
		case seatMe:
			request.Occupant = &pb.SeatRequest_Caller{Caller: &pb.Caller{}}
		case seatOpen:
			request.Occupant = &pb.SeatRequest_Open{Open: &pb.Open{}}
		default:
			bot := variantOf(f.variants, f.variant).GetBots()[seat-seatBots]
			request.Occupant = &pb.SeatRequest_Bot{Bot: bot}
		}
		g.Options.Seats = append(g.Options.Seats, request)
	}
	return g
}

// box draws the form for the window.
func (f *form) box() string {
	const around = 4 // columns and rows of the box
	t, v := f.env.Theme, variantOf(f.variants, f.variant)
	fields := f.fields.View()
	about := t.Dim().Width(formWidth).Render(client.CleanText(v.GetTitle()+": "+v.GetSummary(), 200))
	keys := widget.Choice(t, "enter", "start") + "  " + widget.Choice(t, "← →", "change") + "  " + widget.Choice(t, "r", "rules")
	for _, content := range []string{
		widget.Lines(true, fields, "", about, "", keys),
		widget.Lines(false, fields, about, keys),
		widget.Lines(false, fields, keys),
	} {
		if lipgloss.Height(content)+around <= f.env.Height {
			return widget.Box(t, "New game", content)
		}
	}
	return widget.Box(t, "New game", fields)
}
