// Package challenge manages challenges. While a challenge is open, players can play games
// that share its seed. Each of these games is an attempt. Its id is derived from the
// challenge and the player, so an account cannot have more than one.
//
// A challenge opens and closes at times that are stored with it, and each move is checked
// against the store's clock, so no server needs to be running at those times. This package
// also decides what stays hidden until a challenge is closed; see Hidden and Reveal.
package challenge

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/gridstand/gridstand/game"
	"github.com/gridstand/gridstand/game/replay"
	"github.com/gridstand/gridstand/internal/convert"
	"github.com/gridstand/gridstand/internal/id"
	challengev1 "github.com/gridstand/gridstand/server/internal/challenge/v1"
	"github.com/gridstand/gridstand/server/internal/store"
)

const (
	// Countdown is the time between the start of a race and its opening.
	Countdown = 3 * time.Second
	// OpenFor is how long links and rematches stay open.
	OpenFor = 7 * 24 * time.Hour
	// MaxEntrants is the maximum number of entrants in a race.
	MaxEntrants = 8
)

// Status is the stage of a challenge. The values equal those of the API's enum.
type Status int32

// The stages of a challenge.
const (
	Waiting   Status = 1 // a race that has not started
	Scheduled Status = 2
	Open      Status = 3
	Closed    Status = 4
)

// Challenge describes a group of games that share a seed.
type Challenge struct {
	ID   string
	Kind replay.ChallengeKind
	// Variant and Revision identify the rules of all attempts.
	Variant  string
	Revision int32
	// Creator is empty for a daily game.
	Creator replay.Player
	// Source identifies the address from which the challenge was created; see SourceOf. It is 0 for a
	// daily game.
	Source  uint16
	Seed    game.Seed
	Private bool
	// CreateTime, OpenTime and CloseTime have a precision of one millisecond. OpenTime and
	// CloseTime are zero for a race that has not started.
	CreateTime, OpenTime, CloseTime time.Time
	// Limit is the time limit for an attempt, or 0 for no limit. For a race, it is the time
	// from its opening to its close, unless all attempts are over earlier.
	Limit time.Duration
	// Credited is the total time by which outages have postponed the CloseTime of a race.
	Credited time.Duration
	// creditedUntil is the end of the last outage that is included in Credited.
	creditedUntil time.Time
	// Entrants are the entrants of a race, in the order in which they joined.
	Entrants []Entrant
	// Target is the result to beat in a rematch, or nil for other kinds of challenges.
	Target *Target
	// Date is the date of a daily game, such as 2026-11-21.
	Date string

	// StartTime is when a waiting race starts by itself, or zero if it does not.
	StartTime time.Time
	// seen is when one of the players of a waiting race was last known to watch it, with the precision
	// seenEvery, or when the race was created.
	seen time.Time
	// gathers is set if a race was created with a bot that stands in until a second player comes. Such
	// a race starts by itself soon after that.
	gathers bool

	// Expires is when the challenge is removed. Its attempts are kept for as long.
	Expires time.Time

	revision int64 // revision of the stored record, for optimistic locking
	// ended is set if the challenge is Closed and cannot open again. For a race, it is stored: all attempts
	// were over, or all outages before the close are known. For other kinds, it follows from the time at
	// which the server has read the challenge.
	ended bool
}

// Entrant is a participant in a race: a player, or a bot with the given name.
type Entrant struct {
	Player replay.Player
	Bot    string
	Ready  bool
	// GameID is the id of the entrant's attempt.
	GameID string
}

// Target is the result to beat in a rematch.
type Target struct {
	GameID string
	Player replay.Player
	Score  int32
}

// Status returns the stage of the challenge at the given time.
func (c *Challenge) Status(now time.Time) Status {
	switch {
	case c.OpenTime.IsZero():
		return Waiting
	case now.Before(c.OpenTime):
		return Scheduled
	case now.Before(c.CloseTime) && !c.ended: // The store's clock may have been set back.
		return Open
	}
	return Closed
}

// Deadline returns the time by which an attempt that began at the given time must end, or
// zero if the challenge is a race that has not started.
func (c *Challenge) Deadline(began time.Time) time.Time {
	if c.Kind == replay.Race || c.Limit == 0 {
		return c.CloseTime
	}
	return slices.MinFunc([]time.Time{began.Add(c.Limit), c.CloseTime}, time.Time.Compare)
}

// Revealed returns the seed if it may be shown at the given time, or else the zero seed.
func (c *Challenge) Revealed(now time.Time) game.Seed {
	if c.Kind == replay.Rematch || c.Status(now) == Closed && c.Final() {
		return c.Seed
	}
	return game.Seed{}
}

// Final reports whether the CloseTime of a closed challenge can no longer change.
func (c *Challenge) Final() bool { return c.Kind != replay.Race || c.ended }

// Embargoed reports whether other players' attempts stay hidden while a challenge of the
// given kind is open.
func Embargoed(kind replay.ChallengeKind) bool { return kind == replay.Daily || kind == replay.Link }

// Entrant returns the player's entry on the roster, or nil.
func (c *Challenge) Entrant(playerID string) *Entrant {
	i := slices.IndexFunc(c.Entrants, func(e Entrant) bool { return e.Player.ID == playerID && playerID != "" })
	if i < 0 {
		return nil
	}
	return &c.Entrants[i]
}

// Hosts reports whether a player may start a race and choose its bots: its creator or, once the creator
// has left, each player in it.
func (c *Challenge) Hosts(playerID string) bool {
	return c.Creator.ID == playerID || c.Entrant(c.Creator.ID) == nil && c.Entrant(playerID) != nil
}

// Has reports whether the attempt with the given id counts. In a race, only the entrants'
// attempts count.
func (c *Challenge) Has(gameID string) bool {
	return c.Kind != replay.Race || slices.ContainsFunc(c.Entrants, func(e Entrant) bool { return e.GameID == gameID })
}

// GameIDs returns the ids of the attempts at a race, in the order of its entrants.
func (c *Challenge) GameIDs() []string {
	return convert.All(c.Entrants, func(e Entrant) string { return e.GameID })
}

// AttemptID returns the id of a player's attempt at a challenge.
func AttemptID(challengeID, playerID string) string {
	return id.Derive([]byte("attempt"), []byte(challengeID), []byte(playerID))
}

// Attempt returns the first entry of e's attempt. dayStreak matters only for daily games.
func (c *Challenge) Attempt(e Entrant, dayStreak int32) replay.Created {
	seat, creator := replay.Seat{Player: e.Player, Bot: e.Bot}, e.Player
	if e.Bot != "" {
		creator = c.Creator
	}
	return replay.Created{
		Variant: c.Variant, Revision: c.Revision, Creator: creator, Seats: []replay.Seat{seat},
		Commitment: c.Seed.Commitment(),
		Attempt:    replay.Attempt{ChallengeID: c.ID, Kind: c.Kind, DayStreak: dayStreak},
	}
}

// stored returns the challenge in its stored form.
func (c *Challenge) stored() (store.Challenge, error) {
	m := &challengev1.Challenge{
		Kind: uint32(c.Kind), Variant: c.Variant, RulesRevision: c.Revision, Creator: encodePlayer(c.Creator),
		Seed: c.Seed.SeedBytes(), Private: c.Private, CreateMs: store.Milli(c.CreateTime), OpenMs: store.Milli(c.OpenTime),
		CloseMs: store.Milli(c.CloseTime), LimitMs: c.Limit.Milliseconds(), CreditedMs: c.Credited.Milliseconds(), Date: c.Date,
		CreditedUntilMs: store.Milli(c.creditedUntil), Ended: c.ended, Source: uint32(c.Source),
		StartMs: store.Milli(c.StartTime), SeenMs: store.Milli(c.seen), Gathers: c.gathers,
	}
	for _, e := range c.Entrants {
		m.Entrants = append(m.Entrants, &challengev1.Entrant{Player: encodePlayer(e.Player), Bot: e.Bot, Ready: e.Ready, GameId: e.GameID})
	}
	if t := c.Target; t != nil {
		m.Target = &challengev1.Target{GameId: t.GameID, Player: encodePlayer(t.Player), Score: t.Score}
	}
	encoded, err := proto.Marshal(m)
	return store.Challenge{
		ID: c.ID, Revision: c.revision, Encoded: encoded, Kind: uint8(c.Kind), Listed: !c.Private && c.Kind != replay.Daily,
		Created: c.CreateTime, Expires: c.Expires,
	}, err
}

// decode decodes a challenge that stored returned.
func decode(s store.Challenge) (*Challenge, error) {
	var m challengev1.Challenge
	if err := proto.Unmarshal(s.Encoded, &m); err != nil {
		return nil, fmt.Errorf("challenge %s: %w", s.ID, err)
	}
	seed, err := game.SeedFromBytes(m.GetSeed())
	if err != nil {
		return nil, fmt.Errorf("challenge %s: %w", s.ID, err)
	}
	c := &Challenge{
		ID: s.ID, Kind: replay.ChallengeKind(m.GetKind()), Variant: m.GetVariant(), Revision: m.GetRulesRevision(),
		Creator: decodePlayer(m.GetCreator()), Seed: seed, Private: m.GetPrivate(), CreateTime: store.FromMilli(m.GetCreateMs()),
		OpenTime: store.FromMilli(m.GetOpenMs()), CloseTime: store.FromMilli(m.GetCloseMs()), Limit: time.Duration(m.GetLimitMs()) * time.Millisecond,
		Credited: time.Duration(m.GetCreditedMs()) * time.Millisecond, Date: m.GetDate(),
		creditedUntil: store.FromMilli(m.GetCreditedUntilMs()), ended: m.GetEnded(),
		Source: uint16(m.GetSource()), revision: s.Revision, Expires: s.Expires,
		StartTime: store.FromMilli(m.GetStartMs()), seen: store.FromMilli(m.GetSeenMs()), gathers: m.GetGathers(),
	}
	for _, e := range m.GetEntrants() {
		c.Entrants = append(c.Entrants, Entrant{
			Player: decodePlayer(e.GetPlayer()), Bot: e.GetBot(), Ready: e.GetReady(), GameID: e.GetGameId(),
		})
	}
	if t := m.GetTarget(); t != nil {
		c.Target = &Target{GameID: t.GetGameId(), Player: decodePlayer(t.GetPlayer()), Score: t.GetScore()}
	}
	return c, nil
}

func encodePlayer(p replay.Player) *challengev1.Player {
	return &challengev1.Player{Id: p.ID, Name: p.Name, Bot: p.Bot}
}

func decodePlayer(p *challengev1.Player) replay.Player {
	return replay.Player{ID: p.GetId(), Name: p.GetName(), Bot: p.GetBot()}
}

// Errors for actions that a challenge does not allow.
var (
	ErrNotFound       = errors.New("no such challenge")
	ErrNoDaily        = errors.New("the variant has no daily game")
	ErrNoDay          = errors.New("there is no daily game on this day")
	ErrNoVariant      = errors.New("the variant no longer exists")
	ErrClosed         = errors.New("the challenge is closed")
	ErrStarted        = errors.New("the race has started")
	ErrFull           = errors.New("the race is full")
	ErrNotCreator     = errors.New("only the creator of the race can do this")
	ErrNotEntered     = errors.New("the player is not on the roster of the race")
	ErrTooFewEntrants = errors.New("a race needs two entrants")
)

// NotOpenError means that a challenge is not open yet.
type NotOpenError struct{ Challenge *Challenge }

func (e *NotOpenError) Error() string { return "the challenge is not open yet" }

// HiddenError means that an attempt is hidden from the caller until its challenge is closed. The seed of Challenge is
// hidden, too.
type HiddenError struct{ Challenge *Challenge }

func (e *HiddenError) Error() string {
	return "this attempt is hidden until its challenge is closed or you have finished your own attempt"
}
