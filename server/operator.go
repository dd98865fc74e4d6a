package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/gridstand/gridstand/internal/id"
	"github.com/gridstand/gridstand/server/internal/account"
	"github.com/gridstand/gridstand/server/internal/directory"
	"github.com/gridstand/gridstand/server/internal/gamelog"
	"github.com/gridstand/gridstand/server/internal/leaderboard"
	"github.com/gridstand/gridstand/server/internal/page"
	"github.com/gridstand/gridstand/server/internal/recovery"
	"github.com/gridstand/gridstand/server/internal/scheduler"
	"github.com/gridstand/gridstand/server/internal/store"
	"github.com/gridstand/gridstand/server/internal/store/sqlite"
)

// Operator does an operator's work on a store, also while servers run on it.
type Operator struct {
	store    *store.Store
	accounts *account.Store
	boards   *leaderboard.Boards
	recovery *recovery.Recovery
	hosts    *account.Credentials
}

// Rebuilt is the result of Operator.Rebuild.
type Rebuilt = recovery.Rebuilt

// Operate opens the store that c.Store and c.Data name, beside a server if one runs; of
// the other values those count that say for how long what is kept. The caller closes
// it. The error is a *ConfigError, or says in a line why the store cannot be used.
func Operate(ctx context.Context, c Config) (*Operator, error) {
	return operate(ctx, c, sqlite.Options{Beside: true})
}

// OperateAlone is Operate for work on a whole store. If that is a file, no server may
// use it until Close.
func OperateAlone(ctx context.Context, c Config) (*Operator, error) {
	return operate(ctx, c, sqlite.Options{})
}

func operate(ctx context.Context, c Config, options sqlite.Options) (_ *Operator, err error) {
	if err := c.validate(); err != nil {
		return nil, err
	}
	if c.Store == Memory {
		return nil, wrong("store", "a store in memory exists only inside its server")
	}
	options.Logger = slog.New(slog.DiscardHandler)
	o := &Operator{}
	o.store, err = c.open(ctx, options, false)
	switch {
	case errors.Is(err, ErrInUse):
		return nil, fmt.Errorf("%w; stop it first", err)
	case err != nil:
		return nil, err
	}
	defer func() {
		if err != nil {
			o.Close()
		}
	}()
	config := c.recovery(o.store, c.NewLogger())
	o.accounts, o.boards, o.recovery = config.Accounts, config.Leaderboard, recovery.New(config)
	o.hosts = account.NewCredentials(o.store.Credentials)
	return o, nil
}

// Close closes the store.
func (o *Operator) Close() { _ = o.store.Close() }

// Rebuild derives leaderboards and lists again from the logs of the games. What
// it did is returned with an error too.
func (o *Operator) Rebuild(ctx context.Context) (Rebuilt, error) { return o.recovery.Rebuild(ctx) }

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

// Unhide undoes Hide, and records the player's results since then.
func (o *Operator) Unhide(ctx context.Context, player string) (name, playerID string, err error) {
	p, err := o.find(ctx, player)
	if err != nil {
		return "", "", err
	}
	if err := o.boards.Unhide(ctx, p.ID); err != nil {
		return "", "", err
	}
	return p.Name, p.ID, o.recovery.ReindexAll(ctx)
}

func (o *Operator) find(ctx context.Context, player string) (account.Player, error) {
	p, err := o.accounts.Find(ctx, player)
	if errors.Is(err, account.ErrNotFound) {
		err = ErrNoPlayer
	}
	return p, err
}

// Credential is the service credential of an SSH host, without its secret.
type Credential struct {
	Name    string
	Created time.Time
}

// CreateCredential creates a service credential for an SSH host, and returns it. It
// cannot be read again. The error says in a line why the name cannot be used.
func (o *Operator) CreateCredential(ctx context.Context, name string) (string, error) {
	return o.hosts.Create(ctx, name)
}

// Credentials lists the service credentials by name.
func (o *Operator) Credentials(ctx context.Context) ([]Credential, error) {
	all, err := o.hosts.List(ctx)
	credentials := make([]Credential, len(all))
	for i, c := range all {
		credentials[i] = Credential{Name: c.Name, Created: c.Created}
	}
	return credentials, err
}

// RevokeCredential removes a service credential. Servers that run stop accepting it
// within two seconds.
func (o *Operator) RevokeCredential(ctx context.Context, name string) error {
	return o.hosts.Revoke(ctx, name)
}

// Quarantine makes a game that is not over damaged for good, so that it is not
// continued without the moves that the store lost. A game that is damaged already is
// left so. The error says in a line why the game cannot be quarantined.
func (o *Operator) Quarantine(ctx context.Context, gameID string) error {
	if !id.Valid(gameID) {
		return gamelog.ErrNotFound
	}
	err := o.recovery.Quarantine(ctx, gameID)
	var damaged *gamelog.DamagedError
	if errors.As(err, &damaged) {
		return nil
	}
	return err
}

// QuarantineBefore quarantines all games that are not over and were created before
// a time, the zero time for now by the store's clock. It returns their ids, also with
// an error.
func (o *Operator) QuarantineBefore(ctx context.Context, before time.Time) ([]string, error) {
	if before.IsZero() {
		now, err := o.store.Time(ctx)
		if err != nil {
			return nil, fmt.Errorf("asking for the time: %w", err)
		}
		before = now
	}
	return o.recovery.QuarantineBefore(ctx, before)
}

// recovery returns what recovery works with on a store. A server adds its
// heartbeat.
func (c *Config) recovery(s *store.Store, logger *slog.Logger) recovery.Config {
	return recovery.Config{
		Engine: s.Background, Heartbeats: s.Background.Heartbeats, Log: gamelog.New(s.Background.Games),
		Accounts: account.New(s.Background.Accounts, c.KeepAccounts), Leaderboard: leaderboard.New(s.Background.Boards, page.NewTokens(s.Background.Secrets), time.Now),
		Directory: directory.New(s.Background.Lists, s.Lists, page.NewTokens(s.Secrets), max(c.KeepFinished, c.AbandonAfter), logger),
		Scheduler: scheduler.New(s.Background.Queue, logger), Logger: logger,
		KeepFinished: c.KeepFinished, Memory: c.Idle,
	}
}
