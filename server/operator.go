package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/gridstand/gridstand/internal/id"
	"github.com/gridstand/gridstand/server/internal/account"
	"github.com/gridstand/gridstand/server/internal/challenge"
	"github.com/gridstand/gridstand/server/internal/directory"
	"github.com/gridstand/gridstand/server/internal/gamelog"
	"github.com/gridstand/gridstand/server/internal/leaderboard"
	"github.com/gridstand/gridstand/server/internal/liveness"
	"github.com/gridstand/gridstand/server/internal/page"
	"github.com/gridstand/gridstand/server/internal/profile"
	"github.com/gridstand/gridstand/server/internal/store"
	"github.com/gridstand/gridstand/server/internal/store/sqlite"
)

// Operator performs administrative operations on a store, even while servers use it.
type Operator struct {
	store    *store.Store
	recovery *liveness.Recovery
	// Credentials are the service credentials of SSH hosts. Running servers stop accepting a revoked one
	// within two seconds.
	Credentials *account.Credentials
}

// Rebuilt is the result of Operator.Rebuild.
type Rebuilt = liveness.Rebuilt

// Operate opens the store selected by c.Store and c.Data, even while a server uses it. Of
// the other fields of c, only the retention times matter. Rebuild needs alone to be set: if the
// store is a file, no server may use it until Close. The caller must close the Operator. The error
// is a *ConfigError or a one-line explanation.
func Operate(ctx context.Context, c Config, alone bool) (*Operator, error) {
	if _, err := c.checkLasting(); err != nil {
		return nil, err
	}
	s, err := c.open(ctx, sqlite.Options{Beside: !alone, Logger: slog.New(slog.DiscardHandler)}, false)
	if err != nil {
		return nil, err
	}
	recovery := liveness.NewRecovery(c.background(s, c.NewLogger()))
	return &Operator{store: s, recovery: recovery, Credentials: account.NewCredentials(s.Credentials)}, nil
}

// Store returns the store in the format of Config.Store, without the password of a Redis
// store.
func (o *Operator) Store() string { return o.store.Name() }

// Close closes the store.
func (o *Operator) Close() { _ = o.store.Close() }

// Rebuild recomputes the leaderboards and lists from the game logs. The result is valid
// even if the error is not nil.
func (o *Operator) Rebuild(ctx context.Context) (Rebuilt, error) { return o.recovery.Rebuild(ctx) }

// Hide removes a player from all leaderboards, and the player's page and games from those that
// others see. player is a name or an ID. Hide returns the player's name and ID.
func (o *Operator) Hide(ctx context.Context, player string) (name, playerID string, err error) {
	p, err := o.recovery.Accounts.Find(ctx, player)
	if err != nil {
		return "", "", err
	}
	return p.Name, p.ID, o.recovery.Leaderboard.Hide(ctx, p.ID)
}

// Unhide reverses Hide. It also records the results that the player achieved while hidden.
func (o *Operator) Unhide(ctx context.Context, player string) (name, playerID string, err error) {
	p, err := o.recovery.Accounts.Find(ctx, player)
	if err != nil {
		return "", "", err
	}
	if err := o.recovery.Leaderboard.Unhide(ctx, p.ID); err != nil {
		return "", "", err
	}
	return p.Name, p.ID, o.recovery.ReindexAll(ctx)
}

// Quarantine permanently marks an unfinished game as damaged, so that it cannot continue
// without moves that the store has lost. It leaves a game that is already damaged
// unchanged. The error is a one-line explanation of why the game cannot be quarantined.
func (o *Operator) Quarantine(ctx context.Context, gameID string) error {
	if !id.Valid(gameID) {
		return fmt.Errorf("%w: the whole id is needed, all %d characters", gamelog.ErrNotFound, id.Length)
	}
	err := o.recovery.Quarantine(ctx, gameID)
	if _, damaged := errors.AsType[*gamelog.DamagedError](err); damaged {
		return nil
	}
	return err
}

// QuarantineBefore quarantines all unfinished games created before the given time. The
// zero time means now, by the store's clock. QuarantineBefore returns the IDs of the
// quarantined games, which are valid even if the error is not nil.
func (o *Operator) QuarantineBefore(ctx context.Context, before time.Time) ([]string, error) {
	if before.IsZero() {
		now, err := o.store.Time(ctx)
		if err != nil {
			return nil, fmt.Errorf("reading the store's time: %w", err)
		}
		before = now
	}
	return o.recovery.QuarantineBefore(ctx, before)
}

// background returns the stores in s for work that must not queue behind clients' calls.
func (c *Config) background(s *store.Store, logger *slog.Logger) liveness.Stores {
	stores := c.stores(s.Background, gamelog.New(s.Background.Games), logger)
	stores.Directory = directory.New(s.Background.Lists, s.Lists, page.NewTokens(s.Secrets), max(c.KeepFinished, c.AbandonAfter), logger)
	return stores
}

// stores returns the stores in s, without a directory. A server must add its Monitor, also to Challenges.
func (c *Config) stores(s *store.Store, log *gamelog.Log, logger *slog.Logger) liveness.Stores {
	challenges := challenge.New(challenge.Config{
		Store: s.Challenges, Log: log, Dailies: c.dailies(), Keep: c.KeepFinished,
	})
	return liveness.Stores{
		Engine: s, Heartbeats: s.Heartbeats, Log: log, Accounts: account.New(s.Accounts, c.KeepAccounts),
		Leaderboard: leaderboard.New(s.Boards, page.NewTokens(s.Secrets), s.Time),
		Challenges:  challenges, Profiles: &profile.Profiles{Store: s.Profiles, Challenges: challenges},
		Queue: s.Queue, Logger: logger, KeepFinished: c.KeepFinished,
	}
}
