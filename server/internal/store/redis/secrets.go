package redis

import (
	"context"

	goredis "github.com/redis/go-redis/v9"
)

// secrets implements store.Secrets with keys named "games:<name>-secret", which never
// expire.
type secrets struct{ client goredis.UniversalClient }

func secretKey(name string) string { return "games:" + name + "-secret" }

func (s secrets) Secret(ctx context.Context, name string, proposed []byte) ([]byte, error) {
	key, pipe := secretKey(name), s.client.Pipeline()
	pipe.SetNX(ctx, key, proposed, 0)
	stored := pipe.Get(ctx, key)
	if _, err := pipe.Exec(ctx); err != nil {
		return nil, failed(err)
	}
	return []byte(stored.Val()), nil
}
