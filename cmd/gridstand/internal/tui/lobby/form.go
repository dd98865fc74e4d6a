package lobby

import (
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/gridstand/gridstand/client"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/ui"
	"github.com/gridstand/gridstand/internal/convert"
	"github.com/gridstand/gridstand/internal/describe"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// form is the dialog for a new game or a new race: the variant, the time, whether it is private, and the
// occupant of each seat. It stays open until the page of the game or race opens.
type form struct {
	race     bool
	variants []*pb.Variant // the variants to choose from
	times    []time.Duration
	fields   []field
	focus    int // index of the focused field
}

// field is a line of the form: a label and the chosen option.
type field struct {
	label   string
	options []string
	chosen  int
}

// Indexes of the fields. The fields of seats follow.
const (
	variantField = iota
	timeField
	privateField
	seatFields
)

// maxSeats is the maximum number of seats in the form. If a variant has more, the form has
// no seats, and the server fills them.
const maxSeats = 12

// turnLimits are the time limits per move that the form offers. 0 means no limit.
var turnLimits = []time.Duration{
	0, 10 * time.Second, 30 * time.Second, time.Minute, 5 * time.Minute, time.Hour, 24 * time.Hour,
}

// raceTimes are the race durations that the form offers, usualTime the index of the preselected one.
var raceTimes = []time.Duration{
	time.Minute, 2 * time.Minute, 3 * time.Minute, 5 * time.Minute, 10 * time.Minute, 20 * time.Minute, time.Hour,
}

const usualTime = 2

// newForm returns the form for a game or a race. chosen is the id of the variant to
// preselect. newForm returns nil if there is no variant to choose from.
func newForm(variants []*pb.Variant, chosen string, race bool) *form {
	f := &form{race: race, variants: variants, times: turnLimits}
	times := field{label: "time per move"}
	if race {
		f.variants = slices.DeleteFunc(slices.Clone(variants), func(v *pb.Variant) bool { return v.GetKind() != pb.Kind_KIND_TWENTY48 })
		f.times, times = raceTimes, field{label: "time", chosen: usualTime}
	}
	if len(f.variants) == 0 {
		return nil
	}
	for _, d := range f.times {
		text := "no limit"
		if d > 0 {
			text = describe.Limit(d)
		}
		times.options = append(times.options, text)
	}
	names := field{label: "variant"}
	for i, v := range f.variants {
		names.options = append(names.options, clean(v.GetId()))
		if v.GetId() == chosen {
			names.chosen = i
		}
	}
	f.fields = []field{names, times, {label: "private", options: []string{"no", "yes, not listed"}}}
	f.addSeats()
	return f
}

// variant returns the chosen variant.
func (f *form) variant() *pb.Variant { return f.variants[f.fields[variantField].chosen] }

// occupants lists what ui.SeatRequest accepts for a seat of the chosen variant.
func (f *form) occupants() []string {
	return append([]string{ui.SeatMe, ui.SeatOpen}, f.variant().GetBots()...)
}

// addSeats replaces the fields of seats by those of the chosen variant. The user has the first seat.
func (f *form) addSeats() {
	f.fields = f.fields[:seatFields]
	n, who := int(f.variant().GetSeats()), f.occupants()
	if n == 1 || n > maxSeats {
		return
	}
	usual := max(slices.Index(who, "greedy"), slices.Index(who, ui.SeatOpen))
	bots := convert.All(f.variant().GetBots(), func(bot string) string { return "bot " + clean(bot) })
	options := append([]string{"me", "open"}, bots...)
	for i := range n {
		seat := field{label: describe.Colors[i%len(describe.Colors)], options: options}
		if i > 0 {
			seat.chosen = usual
		}
		f.fields = append(f.fields, seat)
	}
}

// Keys implements ui.Dialog.
func (f *form) Keys() ui.KeyTable {
	chooses := func(by int) func() tea.Cmd { return func() tea.Cmd { f.choose(by); return nil } }
	moves := func(by int) func() tea.Cmd {
		return func() tea.Cmd { f.focus = max(min(f.focus+by, len(f.fields)-1), 0); return nil }
	}
	return ui.KeyTable{{
		ui.On("left", "← →", "change", true, chooses(-1)).Footer(1), ui.Unlisted("right", chooses(1)),
		ui.On("up shift+tab", "↑ ↓", "field", true, moves(-1)).Footer(2), ui.Unlisted("down tab", moves(1)),
		ui.On("r", "r", "rules", true, ui.Run(ui.Open(ui.Route{Rules: f.variant().GetId()}))).Footer(3),
		ui.On("enter", "enter", "start", true, func() tea.Cmd { return ui.Open(f.route()) }).Footer(4),
		ui.On("esc q", "esc", "close", true, ui.Run(nil)).Footer(5).Closing(),
	}}
}

// choose chooses the next or the previous option of the focused field.
func (f *form) choose(by int) {
	at := &f.fields[f.focus]
	at.chosen = (at.chosen + by + len(at.options)) % len(at.options)
	if f.focus == variantField {
		f.addSeats()
	}
}

// route returns the route to the game or race that the form describes.
func (f *form) route() ui.Route {
	id, limit, private := f.variant().GetId(), f.times[f.fields[timeField].chosen], f.fields[privateField].chosen == 1
	if f.race {
		return ui.Route{NewChallenge: &ui.NewChallenge{Request: &pb.CreateChallengeRequest{
			Kind: pb.ChallengeKind_CHALLENGE_KIND_RACE, Variant: id, Limit: durationpb.New(limit), Private: private,
		}}}
	}
	g := &ui.NewGame{Variant: id, Options: client.GameOptions{Private: private, TurnLimit: limit}}
	for _, seat := range f.fields[seatFields:] {
		g.Options.Seats = append(g.Options.Seats, ui.SeatRequest(f.occupants()[seat.chosen]))
	}
	return ui.Route{New: g}
}

// Widths of the form and its labels. The box around it is 40 columns wide.
const (
	formWidth  = 36
	labelWidth = 14
)

// lines draws the fields.
func (f *form) lines(t ui.Theme) string {
	lines := make([]string, len(f.fields))
	for i, at := range f.fields {
		label, option := ui.Pad(at.label, labelWidth), at.options[at.chosen]
		line := "  " + t.Dim().Render(label) + "  " + option
		if i == f.focus {
			line = t.Accent().Render("▸ ") + t.Bold().Render(label) +
				t.Accent().Render("‹ ") + t.Bold().Render(option) + t.Accent().Render(" ›")
		}
		lines[i] = ui.Pad(ansi.Truncate(line, formWidth, ""), formWidth)
	}
	return strings.Join(lines, "\n")
}

// Content implements ui.Dialog. It has as much of the form's description as fits in the window.
func (f *form) Content(env *ui.Env) (title, text string) {
	title = "New game"
	if f.race {
		title = "New race"
	}
	v, fields := f.variant(), f.lines(env.Theme)
	about := env.Theme.Dim().Width(formWidth).Render(client.CleanText(v.GetTitle()+": "+v.GetSummary(), 200))
	for _, content := range []string{ui.Lines(true, fields, "", about), ui.Lines(false, fields, about)} {
		if lipgloss.Height(content)+ui.FrameHeight <= env.Height {
			return title, content
		}
	}
	return title, fields
}
