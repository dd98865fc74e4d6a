package redis

import (
	"context"
	"strconv"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/gridstand/gridstand/server/internal/store"
)

// profiles implements store.Profiles in the hashes of the accounts, with which profiles expire:
//
//	player:{<id>}  hash: profile, profile-revision, and the fields of the account
type profiles struct{ client goredis.UniversalClient }

var profileFields = []string{"profile-revision", "profile"}

// parseProfile reads the values of profileFields.
func parseProfile(values []any) store.Profile {
	revision, err := strconv.ParseInt(stringAt(values, 0), 10, 64)
	if err != nil {
		return store.Profile{}
	}
	return store.Profile{Revision: revision, Encoded: []byte(stringAt(values, 1))}
}

func (p profiles) Get(ctx context.Context, playerID string) (store.Profile, time.Time, error) {
	pipe := p.client.Pipeline()
	values, now := pipe.HMGet(ctx, playerKey(playerID), profileFields...), pipe.Time(ctx)
	if _, err := pipe.Exec(ctx); err != nil {
		return store.Profile{}, time.Time{}, failed(err)
	}
	return parseProfile(values.Val()), now.Val().UTC(), nil
}

func (p profiles) Update(ctx context.Context, playerID string, to store.Profile) error {
	replaced, err := setFields(ctx, p.client, playerKey(playerID), "profile-revision", to.Revision, time.Time{},
		"profile-revision", to.Revision+1, "profile", to.Encoded)
	if err == nil && replaced == 0 {
		return store.ErrMoved
	}
	return err
}
