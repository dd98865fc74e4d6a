package account

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/gridstand/gridstand/server/internal/invalid"
	"github.com/gridstand/gridstand/server/internal/store"
)

var (
	// ErrBadCredential is returned for a service credential that is malformed, unknown or
	// revoked.
	ErrBadCredential = errors.New("bad service credential")
	// ErrNoCredential is returned for the name of no credential.
	ErrNoCredential = errors.New("there is no such credential")
	// ErrCredentialExists is returned for the name of another credential.
	ErrCredentialExists = errors.New("there is a credential of this name already; revoke it first")
)

const (
	// credentialPrefix tells a service credential from a player's token, for servers and
	// for programs that look for leaked secrets.
	credentialPrefix = "gridstand_ssh_"
	// credentialsFor is how long a server accepts a credential without reading it again.
	credentialsFor = 2 * time.Second
	// maxCredentials bounds their number, and so the time of a comparison.
	maxCredentials = 16
)

// Credentials are the service credentials of SSH hosts. All methods may be called
// concurrently.
type Credentials struct {
	credentials store.Credentials

	mu  sync.Mutex
	all []store.Credential // as read at the time at
	at  time.Time
}

// NewCredentials returns the credentials in a store.
func NewCredentials(credentials store.Credentials) *Credentials {
	return &Credentials{credentials: credentials}
}

// IsCredential reports whether a text has the prefix of credentials, which no token has.
func IsCredential(text string) bool { return strings.HasPrefix(text, credentialPrefix) }

// Verified returns the name of a credential, if the credentials were read recently. One
// that was revoked is accepted for up to two seconds.
func (c *Credentials) Verified(credential string) (name string, ok bool) {
	if !validCredential(credential) {
		return "", false
	}
	c.mu.Lock()
	known, fresh := c.all, time.Since(c.at) < credentialsFor
	c.mu.Unlock()
	if !fresh {
		return "", false
	}
	name = nameOf(digestOf(credential), known)
	return name, name != ""
}

// Verify reads the credentials and returns the name of one, or ErrBadCredential.
func (c *Credentials) Verify(ctx context.Context, credential string) (name string, err error) {
	if !validCredential(credential) {
		return "", ErrBadCredential
	}
	now := time.Now()
	known, err := c.credentials.All(ctx)
	if err != nil {
		return "", fmt.Errorf("verifying a credential: %w", err)
	}
	c.mu.Lock()
	c.all, c.at = known, now
	c.mu.Unlock()
	if name = nameOf(digestOf(credential), known); name == "" {
		return "", ErrBadCredential
	}
	return name, nil
}

func validCredential(credential string) bool {
	secret, ok := strings.CutPrefix(credential, credentialPrefix)
	return ok && validSecret(secret)
}

// nameOf returns the name of the credential with a digest, "" for none.
func nameOf(wanted digest, all []store.Credential) (name string) {
	for _, c := range all {
		if wanted.matches(c.Digest) {
			name = c.Name
		}
	}
	return name
}

// Create adds a credential and returns it. It cannot be read again: the store has its
// digest. The error is ErrCredentialExists, and an *invalid.Error for a malformed name.
func (c *Credentials) Create(ctx context.Context, name string) (string, error) {
	if !validName(name) || strings.Contains(name, " ") {
		return "", invalid.Field("name", "must be 1 to %d characters out of a–z, A–Z, 0–9 and “-_.”", maxNameLength)
	}
	all, err := c.List(ctx)
	if err != nil {
		return "", err
	}
	if len(all) >= maxCredentials {
		return "", fmt.Errorf("there are %d credentials, and no more are allowed; revoke one first", len(all))
	}
	secret, err := chosenOrDrawn("")
	if err != nil {
		return "", err
	}
	credential := credentialPrefix + secret
	added, err := c.credentials.Add(ctx, store.Credential{Name: name, Digest: digestOf(credential).String()})
	if err != nil {
		return "", fmt.Errorf("adding a credential: %w", err)
	}
	if !added {
		return "", ErrCredentialExists
	}
	return credential, nil
}

// List lists the credentials by name.
func (c *Credentials) List(ctx context.Context) ([]store.Credential, error) {
	all, err := c.credentials.All(ctx)
	if err != nil {
		return nil, fmt.Errorf("listing credentials: %w", err)
	}
	return all, nil
}

// Revoke removes a credential, or returns ErrNoCredential.
func (c *Credentials) Revoke(ctx context.Context, name string) error {
	found, err := c.credentials.Remove(ctx, name)
	if err != nil {
		return fmt.Errorf("removing a credential: %w", err)
	}
	if !found {
		return ErrNoCredential
	}
	return nil
}
