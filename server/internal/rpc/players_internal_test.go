package rpc

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/server/internal/account"
	"github.com/gridstand/gridstand/server/internal/store"
	"github.com/gridstand/gridstand/server/internal/store/storetest"
)

// rotating is a store of accounts whose caller leaves when a secret is replaced.
type rotating struct {
	store.Accounts
	leave context.CancelFunc
}

func (r rotating) SetSecret(ctx context.Context, playerID, from, to string) error {
	err := r.Accounts.SetSecret(ctx, playerID, from, to)
	r.leave()
	return err
}

// Ensure that a new token ends the sessions although the caller leaves before the reply.
func TestRotateToken_Left(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, kept *store.Store) {
		ctx, leave := context.WithCancel(t.Context())
		accounts := account.New(rotating{kept.Accounts, leave}, time.Hour)
		s := New(Config{Accounts: accounts, Sessions: account.NewSessions(kept.Sessions, accounts)})
		ann, token, err := accounts.Create(ctx, "ann", "", false)
		require.NoError(t, err)
		code, _, err := s.Sessions.Offer(ctx, ann.ID)
		require.NoError(t, err)
		_, _, err = s.Sessions.Open(ctx, code, "", "")
		require.NoError(t, err)
		_, _ = s.RotateToken(context.WithValue(ctx, identityKey{}, identity{player: ann, token: token}), &pb.RotateTokenRequest{})
		require.Error(t, ctx.Err())
		open, err := s.Sessions.List(t.Context(), ann.ID)
		require.NoError(t, err)
		assert.Empty(t, open)
	})
}
