package store

import "context"

// Secrets stores the secrets that all servers using the store share.
type Secrets interface {
	// Secret returns the secret with the given name. If the store has no such
	// secret, it stores and returns proposed. Secrets never expire.
	Secret(ctx context.Context, name string, proposed []byte) ([]byte, error)
}
