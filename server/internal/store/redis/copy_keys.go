package redis

import (
	"context"

	"github.com/gridstand/gridstand/server/internal/store"
)

func (s copier) exportCredentials(ctx context.Context, visit func(store.Piece) error) error {
	all, err := credentials{s.client}.All(ctx)
	if err != nil {
		return err
	}
	return visit(store.Piece{Credentials: all})
}

// exportKeys exports the SSH keys. It skips keys whose account has expired, and keys that
// are only partly linked.
func (s copier) exportKeys(ctx context.Context, visit func(store.Piece) error) error {
	return scanKeys(ctx, s.client, keysKey("*"), func(names []string) error {
		var piece store.Piece
		for _, name := range names {
			playerID := between(name, keysKey("*"))
			all, err := keys{accounts{s.client}}.Keys(ctx, playerID)
			if err != nil {
				return err
			}
			expires, err := s.client.PExpireTime(ctx, playerKey(playerID)).Result()
			if err != nil {
				return failed(err)
			}
			for _, key := range all {
				owner, ok, err := keys{accounts{s.client}}.Owner(ctx, key.Fingerprint)
				if err != nil {
					return err
				}
				if ok && owner.ID == playerID {
					piece.Keys = append(piece.Keys, store.ExportedKey{Key: key, Expires: expiryAt(expires)})
				}
			}
		}
		return visit(piece)
	})
}
