// Package verify plays a finished game again on the player's own machine, from
// its transcript and the seed that its last event reveals, and says whether the
// server told the truth: that the seed is the one it committed to when the game
// was created, and that every tile, board, score and legal move followed from
// it and from what the players did.
//
// It shows that nothing was altered after the game was created. How the seed
// was drawn, it cannot know.
package verify

import (
	"errors"
	"fmt"
	"iter"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/gridstand/gridstand/client"
	"github.com/gridstand/gridstand/game"
	"github.com/gridstand/gridstand/game/replay"
	"github.com/gridstand/gridstand/internal/id"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/proto/translate"
)

// MaxEvents and MaxSize, in bytes, bound the transcripts that are read. The
// longest games on the largest boards stay well below.
const (
	MaxEvents = 1 << 20
	MaxSize   = 1 << 28
)

var (
	// ErrLive means that the transcript does not reach the end of its game: the
	// seed is not revealed yet, so there is nothing to recompute from.
	ErrLive = errors.New("the game is not over: it can be verified once it is")

	// ErrIncomplete means that the transcript does not start at the beginning
	// of its game.
	ErrIncomplete = errors.New("the transcript does not start at version 1")

	// ErrUnknown means that the game was played by rules, or contains an event,
	// that this version of the program does not know.
	ErrUnknown = errors.New("this version of the program cannot recompute the game")

	// ErrTooLong means more than MaxEvents or MaxSize.
	ErrTooLong = fmt.Errorf("the transcript is too long: more than %d events or %d MB", MaxEvents, MaxSize>>20)
)

// Difference is the first thing in a transcript that does not fit.
type Difference struct {
	// Version of the event.
	Version int32
	// What is wrong with it, such as "tile 5 is 8, recomputed 4".
	What string
}

// Error implements error.
func (d *Difference) Error() string { return fmt.Sprintf("version %d: %s", d.Version, d.What) }

func differs(version int32, format string, args ...any) error {
	return &Difference{Version: version, What: fmt.Sprintf(format, args...)}
}

// Report says what was recomputed and found right.
type Report struct {
	// GameID and Variant of the game.
	GameID, Variant string
	// Players are the names in the seats, of bots too.
	Players []string
	// Versions is the number of events, each with its board, scores and legal
	// moves.
	Versions int
	// Moves among them.
	Moves int
	// Spawned counts the tiles that appeared at random, those of the beginning
	// included.
	Spawned int
	// Reason for which the game ended.
	Reason game.Reason
	// Scores at the end, by seat.
	Scores []int32
	// Winners are the seats that won.
	Winners []int
	// Ranked says whether the game counts for the leaderboard.
	Ranked bool
	// Begin and End are the times of the first and the last event, which the
	// server vouches for alone.
	Begin, End time.Time
}

// Transcript recomputes a game from its events, from the first to the last. The
// error is a *Difference where something does not fit, one of the errors above,
// or one that events yielded.
func Transcript(events iter.Seq2[*pb.Event, error]) (Report, error) {
	tape, seed, err := record(events)
	if err != nil {
		return Report{}, err
	}
	r := replayer{seed: seed}
	for _, stored := range tape {
		var event pb.Event
		if err := proto.Unmarshal(stored, &event); err != nil {
			return Report{}, fmt.Errorf("transcript: %w", err)
		}
		if err := r.check(&event); err != nil {
			return Report{}, err
		}
	}
	return r.done(), nil
}

// record keeps the events, in their encoded form, which is many times smaller,
// until the last one brings the seed. It checks what can be known without it.
func record(events iter.Seq2[*pb.Event, error]) (tape [][]byte, seed []byte, err error) {
	over, size := false, 0
	var gameID string
	for event, err := range events {
		switch version := event.GetVersion(); {
		case err != nil:
			return nil, nil, err
		case len(tape) == 0 && version != 1:
			return nil, nil, ErrIncomplete
		case over:
			return nil, nil, differs(version, "it comes after the end of the game")
		case int(version) != len(tape)+1:
			return nil, nil, differs(int32(len(tape)+1), "version %d stands in its place", version)
		case len(tape) == 0 && !id.Valid(event.GetGameId()):
			return nil, nil, differs(version, "%q is no id of a game", event.GetGameId())
		case len(tape) == 0:
			gameID = event.GetGameId()
		case event.GetGameId() != gameID:
			return nil, nil, differs(version, "it is an event of another game, %q", event.GetGameId())
		}
		stored, err := proto.Marshal(event)
		if err != nil {
			return nil, nil, fmt.Errorf("transcript: %w", err)
		}
		tape = append(tape, stored)
		if size += len(stored); len(tape) > MaxEvents || size > MaxSize {
			return nil, nil, ErrTooLong
		}
		over, seed = event.GetResult() != nil, event.GetSeed()
	}
	switch {
	case len(tape) == 0:
		return nil, nil, ErrIncomplete
	case !over:
		return nil, nil, ErrLive
	default:
		return tape, seed, nil
	}
}

// replayer plays a game again, event by event.
type replayer struct {
	seed   []byte
	state  *replay.State
	states []*replay.State // by version, from 1
	report Report
}

// check recomputes one event and compares.
func (r *replayer) check(event *pb.Event) error {
	version := event.GetVersion()
	entry, err := translate.Entry(event)
	if err != nil {
		return refused(version, err)
	}
	at, err := r.time(event)
	if err != nil {
		return err
	}
	var again *replay.Event
	if r.state == nil {
		again, err = r.begin(event, entry, at)
	} else {
		again, err = r.apply(entry, at)
	}
	if err != nil {
		return refused(version, err)
	}
	if what := difference(event, translate.Event(again)); what != "" {
		return &Difference{Version: version, What: what}
	}
	r.state = again.State
	r.states = append(r.states, again.State)
	r.count(again)
	return nil
}

// apply applies an entry, also one that goes back to an earlier state.
func (r *replayer) apply(entry replay.Entry, at time.Time) (*replay.Event, error) {
	undone, ok := entry.Action.(replay.Undone)
	if !ok || undone.To < 1 || int(undone.To) > len(r.states) {
		return r.state.Apply(entry, at)
	}
	return r.state.Undo(entry, r.states[undone.To-1], at)
}

// begin applies the first event, after a look at the seed.
func (r *replayer) begin(event *pb.Event, entry replay.Entry, at time.Time) (*replay.Event, error) {
	created, ok := entry.Action.(replay.Created)
	if !ok {
		return nil, differs(event.GetVersion(), "a game begins with its creation")
	}
	seed, err := game.SeedFromBytes(r.seed)
	if err != nil {
		return nil, differs(event.GetVersion(), "the revealed seed is none: %v", err)
	}
	if commitment := seed.Commitment(); commitment != created.Commitment {
		return nil, differs(event.GetVersion(),
			"the commitment is %x, but SHA-256 of the revealed seed is %x", created.Commitment, commitment)
	}
	return replay.Start(event.GetGameId(), entry, seed, at)
}

// time is the event's own, which must not run backwards.
func (r *replayer) time(event *pb.Event) (time.Time, error) {
	if err := event.GetTime().CheckValid(); err != nil {
		return time.Time{}, differs(event.GetVersion(), "its time is none")
	}
	at := event.GetTime().AsTime()
	if r.state != nil && at.Before(r.state.UpdateTime) {
		return time.Time{}, differs(event.GetVersion(), "its time is before that of the event before")
	}
	return at, nil
}

// refused sorts the errors of those who read an event.
func refused(version int32, err error) error {
	var difference *Difference
	switch {
	case errors.As(err, &difference):
		return err
	case errors.Is(err, translate.ErrUnknown), errors.Is(err, replay.ErrUnknown):
		return fmt.Errorf("%w: version %d: %w", ErrUnknown, version, err)
	default:
		return differs(version, "the rules do not allow it: %v", err)
	}
}

func (r *replayer) count(e *replay.Event) {
	r.report.Versions++
	switch e.Entry.Action.(type) {
	case replay.Created:
		r.report.Begin = e.State.UpdateTime
		for _, tile := range translate.Position(e.State).GetTwenty48().GetTiles() {
			if tile != 0 {
				r.report.Spawned++
			}
		}
	case replay.Moved:
		r.report.Moves++
		if e.Change.Spawned != nil {
			r.report.Spawned++
		}
	}
}

func (r *replayer) done() Report {
	s, report := r.state, r.report
	report.GameID, report.Variant = s.ID, s.Variant.ID
	for _, seat := range s.Seats {
		if seat.Bot != "" {
			report.Players = append(report.Players, client.CleanName(seat.Bot))
		} else {
			report.Players = append(report.Players, client.CleanName(seat.Player.Name))
		}
	}
	report.Reason, report.Winners, report.Scores = s.Result.Reason, s.Result.Winners, s.Position.Scores()
	report.Ranked, report.End = s.Ranked, s.UpdateTime
	return report
}
