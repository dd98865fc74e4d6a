package lobby

import (
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"
	"charm.land/huh/v2"
	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/gridstand/gridstand/client"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/ui"
	"github.com/gridstand/gridstand/internal/describe"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// form is the form for a new game or a new race. Its fields come from package huh, one line
// each. The form moves the focus between them itself: huh would do so with a message, and a
// key that arrived before the message would change the wrong field.
type form struct {
	env      *ui.Env
	race     bool
	variants []*pb.Variant // the variants to choose from
	fields   *huh.Form
	first    huh.Field
	last     huh.Field

	// The values of the fields. Each seat has one that ui.SeatRequest accepts.
	variant   string
	turnLimit time.Duration
	raceTime  time.Duration
	private   bool
	seats     []string
}

// maxSeats is the maximum number of seats in the form. If a variant has more, the form has
// no seats, and the server fills them.
const maxSeats = 12

// turnLimits are the time limits per move that the form offers.
var turnLimits = []time.Duration{
	10 * time.Second, 30 * time.Second, time.Minute, 5 * time.Minute, time.Hour, 24 * time.Hour,
}

// raceTimes are the race durations that the form offers.
var raceTimes = []time.Duration{
	time.Minute, 2 * time.Minute, 3 * time.Minute, 5 * time.Minute, 10 * time.Minute, 20 * time.Minute, time.Hour,
}

// newForm returns the form for a game or a race. chosen is the id of the variant to
// preselect. newForm returns nil if there is no variant to choose from.
func newForm(env *ui.Env, variants []*pb.Variant, chosen string, race bool) *form {
	f := &form{env: env, race: race, variants: variants, variant: chosen, raceTime: 3 * time.Minute}
	if race {
		f.variants = slices.DeleteFunc(slices.Clone(variants), func(v *pb.Variant) bool { return v.GetKind() != pb.Kind_KIND_TWENTY48 })
	}
	if len(f.variants) == 0 {
		return nil
	}
	if variantOf(f.variants, chosen) == nil {
		f.variant = f.variants[0].GetId()
	}
	f.build()
	return f
}

// build creates the fields for the chosen variant.
func (f *form) build() {
	var variants []huh.Option[string]
	for _, v := range f.variants {
		variants = append(variants, huh.NewOption(clean(v.GetId()), v.GetId()))
	}
	label, value, times := "time per move", &f.turnLimit, turnLimits
	limits := []huh.Option[time.Duration]{huh.NewOption("no limit", time.Duration(0))}
	if f.race {
		label, value, times, limits = "time", &f.raceTime, raceTimes, nil
	}
	for _, d := range times {
		limits = append(limits, huh.NewOption(describe.Limit(d), d))
	}
	fields := []huh.Field{
		selectField(f.env, "variant", &f.variant, variants), selectField(f.env, label, value, limits),
		selectField(f.env, "private", &f.private, []huh.Option[bool]{
			huh.NewOption("no", false), huh.NewOption("yes, not listed", true),
		}),
	}
	v := variantOf(f.variants, f.variant)
	f.seats = nil
	if n := v.GetSeats(); n > 1 && n <= maxSeats {
		f.seats = make([]string, n)
		occupants := []huh.Option[string]{huh.NewOption("me", ui.SeatMe), huh.NewOption("open", ui.SeatOpen)}
		for _, bot := range v.GetBots() {
			occupants = append(occupants, huh.NewOption("bot "+clean(bot), bot))
		}
		for i := range f.seats {
			switch {
			case i == 0:
				f.seats[i] = ui.SeatMe
			case slices.Contains(v.GetBots(), "greedy"):
				f.seats[i] = "greedy"
			default:
				f.seats[i] = ui.SeatOpen
			}
			name := describe.Colors[i%len(describe.Colors)]
			fields = append(fields, selectField(f.env, name, &f.seats[i], occupants))
		}
	}
	f.first, f.last = fields[0], fields[len(fields)-1]
	f.fields = huh.NewForm(huh.NewGroup(fields...)).WithShowHelp(false).WithTheme(formTheme(f.env, ""))
	f.fields.WithWidth(formWidth).WithHeight(len(fields))
	f.fields.Init() // focuses the first field; only a standalone form needs the returned command
}

// Widths of the form and its labels. The box around it is 40 columns wide.
const (
	formWidth  = 36
	labelWidth = 14
)

// selectField returns a field on one line: a label and the selected option.
func selectField[T comparable](env *ui.Env, label string, value *T, options []huh.Option[T]) huh.Field {
	return huh.NewSelect[T]().Options(options...).Value(value).Inline(true).WithTheme(formTheme(env, label))
}

// formTheme returns the theme of a field. huh writes labels above the fields; this theme
// puts them to the left.
func formTheme(env *ui.Env, label string) huh.Theme {
	return huh.ThemeFunc(func(bool) *huh.Styles {
		t := env.Theme
		before := func(mark string, text ui.Text) lipgloss.Style {
			return lipgloss.NewStyle().Transform(func(field string) string {
				return ansi.Truncate(mark+text.Render(ui.Pad(label, labelWidth))+field, formWidth, "")
			})
		}
		s := huh.ThemeBase(false)
		s.FieldSeparator = lipgloss.NewStyle().SetString("\n")
		s.Focused.Base, s.Blurred.Base = before(t.Accent().Render("▸ "), t.Bold()), before("  ", t.Dim())
		s.Focused.SelectedOption, s.Blurred.SelectedOption = t.Bold().Lipgloss(), lipgloss.NewStyle()
		s.Focused.PrevIndicator = t.Accent().Lipgloss().SetString("‹ ")
		s.Focused.NextIndicator = t.Accent().Lipgloss().SetString(" ›")
		s.Blurred.PrevIndicator = lipgloss.NewStyle().SetString("  ")
		return s
	})
}

func (f *form) keys() ui.KeyMap {
	return ui.Keys(ui.Bind("↑ ↓", "field"), ui.Bind("← →", "change"), ui.Bind("r", "rules"), ui.Bind("enter", "start"), ui.Bind("esc", "close"))
}

func (f *form) update(msg tea.KeyPressMsg) {
	switch msg.String() {
	case "down", "tab":
		if f.fields.GetFocusedField() != f.last { // past the last field, huh would submit the form
			f.fields.NextField()
		}
	case "up", "shift+tab":
		if f.fields.GetFocusedField() != f.first { // huh would leave the form without a focused field
			f.fields.PrevField()
		}
	case "left", "right":
		before := f.variant
		f.fields.Update(msg)
		if f.variant != before {
			f.build()
		}
	}
}

// route returns the route to the game or race that the form describes.
func (f *form) route() ui.Route {
	if f.race {
		return ui.Route{NewChallenge: &ui.NewChallenge{Request: &pb.CreateChallengeRequest{
			Kind: pb.ChallengeKind_CHALLENGE_KIND_RACE, Variant: f.variant, Limit: durationpb.New(f.raceTime), Private: f.private,
		}}}
	}
	return ui.Route{New: f.game()}
}

func (f *form) game() *ui.NewGame {
	g := &ui.NewGame{Variant: f.variant, Options: client.GameOptions{Private: f.private, TurnLimit: f.turnLimit}}
	for _, seat := range f.seats {
		g.Options.Seats = append(g.Options.Seats, ui.SeatRequest(seat))
	}
	return g
}

// box draws the form, with as much of its description as fits in the window.
func (f *form) box() string {
	const around = 4 // rows that the box adds
	title := "New game"
	if f.race {
		title = "New race"
	}
	t, v := f.env.Theme, variantOf(f.variants, f.variant)
	fields := f.fields.View()
	about := t.Dim().Lipgloss().Width(formWidth).Render(client.CleanText(v.GetTitle()+": "+v.GetSummary(), 200))
	keys := ui.Choice(t, "enter", "start") + "  " + ui.Choice(t, "← →", "change") + "  " + ui.Choice(t, "r", "rules")
	for _, content := range []string{
		ui.Lines(true, fields, "", about, "", keys),
		ui.Lines(false, fields, about, keys),
		ui.Lines(false, fields, keys),
	} {
		if lipgloss.Height(content)+around <= f.env.Height {
			return ui.Box(t, title, content)
		}
	}
	return ui.Box(t, title, fields)
}
