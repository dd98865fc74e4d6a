package cli

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/gridstand/gridstand/client"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// identifyTimeout is the timeout of the call that looks up the account of a key. Tests change it.
var identifyTimeout = 10 * time.Second

// identify looks up the account of the session's key, which may not have one yet.
func (p *program) identify(ctx context.Context, log *slog.Logger) error {
	if p.over.refusal != nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, identifyTimeout)
	defer cancel()
	_, err := p.client.Me(ctx)
	switch {
	case err == nil, errors.Is(err, client.ErrKeyNotLinked):
		return nil
	case errors.Is(err, client.ErrBadCredential):
		logHostError(log, err)
		p.client, p.over.refusal = p.client.ForSession(client.Session{Address: p.over.session.Address}), errOnlyWatching
		return nil
	case errors.Is(err, client.ErrUnreachable):
		logHostError(log, err)
		return err
	default:
		return err
	}
}

// knownKey returns the account of the session's key, or an error if the key has no account.
func (p *program) knownKey(ctx context.Context) (*pb.Player, error) {
	if p.client.PlayerID() == "" {
		return nil, missingf("you have no account yet; your first game creates it")
	}
	return p.client.Me(ctx)
}
