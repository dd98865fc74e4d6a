package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/gridstand/gridstand/game/replay"
	"github.com/gridstand/gridstand/internal/id"
	"github.com/gridstand/gridstand/server/internal/account"
	"github.com/gridstand/gridstand/server/internal/directory"
	"github.com/gridstand/gridstand/server/internal/gamelog"
	"github.com/gridstand/gridstand/server/internal/leaderboard"
	"github.com/gridstand/gridstand/server/internal/steward"
)

// Operator does what only an operator may do, on the store of servers that may
// be running meanwhile.
type Operator struct {
	store    *store
	accounts *account.Store
	boards   *leaderboard.Boards
	steward  *steward.Steward
}

// Rebuilt is what Operator.Rebuild did.
type Rebuilt = steward.Rebuilt

// Operate opens the store that c.Redis names; of the other values those count
// that say for how long what is kept. The caller closes it. The error is a
// *ConfigError, or says in a line why the store cannot be used.
func Operate(ctx context.Context, c Config) (_ *Operator, err error) {
	if err := c.validate(); err != nil {
		return nil, err
	}
	if c.Redis == Embedded {
		return nil, wrong("redis", "an embedded store lives and ends with its server; nobody else can reach it")
	}
	o := &Operator{}
	if o.store, err = openStore(c.Redis); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			o.Close()
		}
	}()
	if err := o.store.waitReady(ctx); err != nil {
		return nil, err
	}
	rooms, err := c.rooms(o.store, c.NewLogger())
	if err != nil {
		return nil, err
	}
	rooms.Recorded = func(*replay.State) {}
	o.accounts, o.boards, o.steward = rooms.Accounts, rooms.Leaderboard, steward.New(rooms)
	return o, nil
}

// Close gives back what Operate took.
func (o *Operator) Close() { o.store.close() }

// Rebuild derives leaderboards and lists again from the logs of the games. What
// it did is returned with an error too.
func (o *Operator) Rebuild(ctx context.Context) (Rebuilt, error) { return o.steward.Rebuild(ctx) }

// ErrNoPlayer means there is no player of that name or id.
var ErrNoPlayer = errors.New("there is no such player")

// Hide hides a player, by name or id: off all leaderboards, and with the
// player's games off the public lists. It returns name and id.
func (o *Operator) Hide(ctx context.Context, player string) (name, playerID string, err error) {
	p, err := o.find(ctx, player)
	if err != nil {
		return "", "", err
	}
	return p.Name, p.ID, o.boards.Hide(ctx, p.ID)
}

// Unhide ends Hide, and records what the player's games came to meanwhile.
func (o *Operator) Unhide(ctx context.Context, player string) (name, playerID string, err error) {
	p, err := o.find(ctx, player)
	if err != nil {
		return "", "", err
	}
	if err := o.boards.Unhide(ctx, p.ID); err != nil {
		return "", "", err
	}
	return p.Name, p.ID, o.steward.EnterAll(ctx)
}

func (o *Operator) find(ctx context.Context, player string) (account.Player, error) {
	p, err := o.accounts.Find(ctx, player)
	if errors.Is(err, account.ErrNotFound) {
		err = ErrNoPlayer
	}
	return p, err
}

// Fence makes a game that is not over damaged for good, so that nobody plays on
// over what Redis lost of it. One that is damaged already is left so. The error
// says in a line why it cannot be fenced.
func (o *Operator) Fence(ctx context.Context, gameID string) error {
	if !id.Valid(gameID) {
		return gamelog.ErrNotFound
	}
	err := o.steward.Fence(ctx, gameID)
	var damaged *gamelog.DamagedError
	if errors.As(err, &damaged) {
		return nil
	}
	return err
}

// FenceBefore fences all games that are not over and were created before a
// moment, the zero time for now by Redis's clock. It returns their ids, also with
// an error.
func (o *Operator) FenceBefore(ctx context.Context, before time.Time) ([]string, error) {
	if before.IsZero() {
		now, err := o.store.reads.Time(ctx).Result()
		if err != nil {
			return nil, fmt.Errorf("asking for the time: %w", err)
		}
		before = now
	}
	return o.steward.FenceBefore(ctx, before)
}

// rooms is what a steward works with on a store, but for what it reports to.
func (c *Config) rooms(s *store, logger *slog.Logger) (steward.Config, error) {
	log, err := gamelog.New(s.appends, s.scheduler)
	if err != nil {
		return steward.Config{}, fmt.Errorf("opening the log: %w", err)
	}
	return steward.Config{
		Client: s.scheduler, Once: s.once, Log: log,
		Accounts: account.New(s.scheduler, c.KeepAccounts), Leaderboard: leaderboard.New(s.scheduler, time.Now),
		Directory: directory.New(s.scheduler, s.reads, max(c.KeepFinished, c.AbandonAfter), logger),
		Logger:    logger, AbandonAfter: c.AbandonAfter, WaitingFor: c.WaitingFor,
		KeepFinished: c.KeepFinished, BotPace: c.BotPace, Memory: c.Idle,
		Limits: c.Limits, PauseAfter: c.PauseAfter,
	}, nil
}
