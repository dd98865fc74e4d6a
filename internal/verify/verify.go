// Package verify replays a finished game on the player's own machine, from its transcript and
// the seed that its last event reveals. It checks that the seed is the one that the server
// committed to when the game was created, and that every tile, board, score and legal move
// follows from the seed and the players' moves.
//
// It proves that nothing was altered after the game was created. It cannot prove that the
// seed was chosen fairly: only the server saw it drawn.
package verify

import (
	"cmp"
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

// maxEvents and maxSize limit the number of events in a transcript and its size in bytes. The
// longest games on the largest boards stay well below both.
const (
	maxEvents = 1 << 20
	maxSize   = 1 << 28
)

var (
	// ErrLive means that the game in the transcript is not over. Its seed has not been
	// revealed yet, so nothing can be recomputed.
	ErrLive = errors.New("the game is not over: it can be verified after it has ended")

	// ErrIncomplete means that the first events are missing.
	ErrIncomplete = errors.New("the transcript does not start at version 1")

	// ErrEmpty means that there are no events.
	ErrEmpty = errors.New("the transcript is empty")

	// ErrUnknown means that this version of the program does not know the game's rules or one
	// of its events.
	ErrUnknown = errors.New("this version of the program cannot recompute the game")

	// ErrTooLong means that the transcript exceeds maxEvents or maxSize.
	ErrTooLong = fmt.Errorf("the transcript is too long: more than %d events or %d MB", maxEvents, maxSize>>20)
)

// Difference describes the first wrong event of a transcript, or the first mismatch between
// the game and its challenge.
type Difference struct {
	// Version is the version of the event, or 0 for a mismatch with the challenge.
	Version int32
	// What describes the difference, such as "position.twenty48.tiles[5] is 8, recomputed 4".
	What string
}

// Error implements error.
func (d *Difference) Error() string {
	if d.Version == 0 {
		return d.What
	}
	return fmt.Sprintf("version %d: %s", d.Version, d.What)
}

func differs(version int32, format string, args ...any) error {
	return &Difference{Version: version, What: fmt.Sprintf(format, args...)}
}

// Report lists what was recomputed and confirmed. The tags are those of the command verify --json.
type Report struct {
	// GameID and Variant identify the game and its rules.
	GameID  string `json:"gameId"`
	Variant string `json:"variant"`
	// Players are the names of the players and bots, by seat.
	Players []string `json:"players"`
	// Versions is the number of events.
	Versions int `json:"versions"`
	// Moves is the number of moves among the events.
	Moves int `json:"moves"`
	// Spawned is the number of tiles that appeared at random, including those of the first
	// board.
	Spawned int `json:"spawned"`
	// Scores are the final scores, by seat.
	Scores []int32 `json:"scores"`
	// Ranked reports whether the game counts for the leaderboard.
	Ranked bool `json:"ranked"`
	// Begin and End are the times of the first and the last event. They cannot be recomputed.
	Begin time.Time `json:"begin"`
	End   time.Time `json:"end"`
	// Commitment is the server's commitment to the seed.
	Commitment []byte `json:"-"`
	// ChallengeID is the id of the game's challenge, or empty if it has none.
	ChallengeID string `json:"-"`
	// The outcome of checking the challenge, or nil if it was not checked.
	*Challenge
	// Reason says why the game ended.
	Reason string `json:"reason"`
}

// Transcript recomputes a game from all of its events. The error is a *Difference if an event is
// wrong, ErrLive, ErrIncomplete, ErrEmpty, ErrUnknown, ErrTooLong or ErrSealed, or an error that events
// yielded.
func Transcript(events iter.Seq2[*pb.Event, error]) (Report, error) {
	encoded, seed, err := collect(events)
	if err != nil {
		return Report{}, err
	}
	r := replayer{seed: seed}
	for _, stored := range encoded {
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

// collect reads all events before any of them is recomputed, because the last one reveals the
// seed. It keeps them encoded, which takes far less memory, and checks their versions and game
// id.
func collect(events iter.Seq2[*pb.Event, error]) (encoded [][]byte, seed []byte, err error) {
	over, size := false, 0
	var gameID string
	for event, err := range events {
		switch version := event.GetVersion(); {
		case err != nil:
			return nil, nil, err
		case len(encoded) == 0 && version != 1:
			return nil, nil, ErrIncomplete
		case over:
			return nil, nil, differs(version, "the event comes after the end of the game")
		case int(version) != len(encoded)+1:
			return nil, nil, differs(int32(len(encoded)+1), "found version %d instead", version)
		case len(encoded) == 0 && !id.Valid(event.GetGameId()):
			return nil, nil, differs(version, "the game id %q is invalid", event.GetGameId())
		case len(encoded) == 0:
			gameID = event.GetGameId()
		case event.GetGameId() != gameID:
			return nil, nil, differs(version, "the event belongs to another game, %q", event.GetGameId())
		}
		stored, err := proto.Marshal(event)
		if err != nil {
			return nil, nil, fmt.Errorf("transcript: %w", err)
		}
		encoded = append(encoded, stored)
		if size += len(stored); len(encoded) > maxEvents || size > maxSize {
			return nil, nil, ErrTooLong
		}
		over, seed = event.GetResult() != nil, event.GetSeed()
	}
	switch {
	case len(encoded) == 0:
		return nil, nil, ErrEmpty
	case !over:
		return nil, nil, ErrLive
	default:
		return encoded, seed, nil
	}
}

// replayer recomputes a game event by event.
type replayer struct {
	seed   []byte
	state  *replay.State
	states []*replay.State // by version, from 1
	report Report
}

// check recomputes one event and compares it with the given one.
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
	var recomputed *replay.Event
	if r.state == nil {
		recomputed, err = r.begin(event, entry, at)
	} else {
		recomputed, err = r.apply(entry, at)
	}
	if err != nil {
		return refused(version, err)
	}
	if what := difference(event, translate.Event(recomputed)); what != "" {
		return &Difference{Version: version, What: what}
	}
	r.state = recomputed.State
	r.states = append(r.states, recomputed.State)
	r.count(recomputed)
	return nil
}

// apply applies an entry to the current state. An undo also needs the earlier state that it
// restores.
func (r *replayer) apply(entry replay.Entry, at time.Time) (*replay.Event, error) {
	undone, ok := entry.Action.(replay.Undone)
	if !ok || undone.To < 1 || int(undone.To) > len(r.states) {
		return r.state.Apply(entry, at)
	}
	return r.state.Undo(entry, r.states[undone.To-1], at)
}

// begin checks the seed and recomputes the first event.
func (r *replayer) begin(event *pb.Event, entry replay.Entry, at time.Time) (*replay.Event, error) {
	created, ok := entry.Action.(replay.Created)
	if !ok {
		return nil, differs(event.GetVersion(), "the first event is not the creation of the game")
	}
	for i, seat := range created.Seats {
		if seat.Resigned || seat.StandIn != "" {
			return nil, differs(event.GetVersion(), "seat %d has resigned or has a stand-in before the game has begun", i)
		}
	}
	if created.TurnLimit < 0 {
		return nil, differs(event.GetVersion(), "the turn limit is %s", created.TurnLimit)
	}
	if len(r.seed) == 0 && created.Attempt.ChallengeID != "" {
		return nil, ErrSealed
	}
	seed, err := game.SeedFromBytes(r.seed)
	if err != nil {
		return nil, differs(event.GetVersion(), "the revealed seed is invalid: %v", err)
	}
	if commitment := seed.Commitment(); commitment != created.Commitment {
		return nil, differs(event.GetVersion(),
			"the commitment is %x, but SHA-256 of the revealed seed is %x", created.Commitment, commitment)
	}
	started, err := replay.Start(event.GetGameId(), entry, seed, at)
	if err == nil {
		started.State = started.State.Reveal(seed) // Otherwise an attempt's seed would stay hidden.
	}
	return started, err
}

// time returns the time of an event, which must not be before the time of the previous event.
func (r *replayer) time(event *pb.Event) (time.Time, error) {
	if err := event.GetTime().CheckValid(); err != nil {
		return time.Time{}, differs(event.GetVersion(), "the event has no valid time")
	}
	at := event.GetTime().AsTime()
	if r.state != nil && at.Before(r.state.UpdateTime) {
		return time.Time{}, differs(event.GetVersion(), "the event is older than the previous one")
	}
	return at, nil
}

// refused returns the error for an event that could not be applied.
func refused(version int32, err error) error {
	var difference *Difference
	switch {
	case errors.As(err, &difference), errors.Is(err, ErrSealed):
		return err
	case errors.Is(err, translate.ErrUnknown), errors.Is(err, replay.ErrUnknown):
		return fmt.Errorf("%w: version %d: %w", ErrUnknown, version, err)
	default:
		return differs(version, "the rules do not allow the event: %v", err)
	}
}

func (r *replayer) count(e *replay.Event) {
	switch e.Entry.Action.(type) {
	case replay.Created:
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
	report.GameID, report.Variant, report.Versions = s.ID, s.Variant.ID, int(s.Version)
	for _, seat := range s.Seats {
		report.Players = append(report.Players, client.CleanName(cmp.Or(seat.Bot, seat.Player.Name)))
	}
	report.Reason, report.Scores, report.Ranked = s.Reason.String(), s.Position.Scores(), s.Ranked
	report.Begin, report.End = s.CreateTime, s.UpdateTime
	report.Commitment, report.ChallengeID = s.Commitment[:], s.Attempt.ChallengeID
	return report
}
