package account

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/gridstand/gridstand/server/internal/cached"
	"github.com/gridstand/gridstand/server/internal/invalid"
	"github.com/gridstand/gridstand/server/internal/store"
)

var (
	// ErrBadCredential is returned for a service credential that is malformed, unknown or
	// revoked.
	ErrBadCredential = errors.New("bad service credential")
	// ErrNoCredential is returned if no credential has the given name.
	ErrNoCredential = errors.New("there is no such credential")
	// ErrCredentialExists is returned if a credential with the same name exists.
	ErrCredentialExists = errors.New("a credential with this name already exists; revoke it first")
)

const (
	// credentialPrefix distinguishes a service credential from a player's token, for servers
	// and for tools that scan for leaked secrets.
	credentialPrefix = "gridstand_ssh_"
	// credentialsFor is how long a server accepts credentials without rereading them.
	credentialsFor = time.Second
	// maxCredentials is the maximum number of credentials. A lookup compares with all of them.
	maxCredentials = 16
)

// Credentials manages the service credentials of SSH hosts. It is safe for concurrent use.
type Credentials struct {
	credentials store.Credentials
	latest      cached.Reads[struct{}, []store.Credential]
}

// NewCredentials returns a Credentials that manages the credentials in a store.
func NewCredentials(credentials store.Credentials) *Credentials {
	return &Credentials{credentials: credentials}
}

// IsCredential reports whether text has the credential prefix, which tokens never have.
func IsCredential(text string) bool { return strings.HasPrefix(text, credentialPrefix) }

// Verify returns the name of the given credential, or ErrBadCredential. It reads the credentials from
// the store unless the given one was among those that were read recently, so a revoked one may be
// accepted for up to two seconds.
func (c *Credentials) Verify(ctx context.Context, credential string) (name string, err error) {
	if !validCredential(credential) {
		return "", ErrBadCredential
	}
	wanted := digestOf(credential)
	all, err := c.latest.Get(ctx, struct{}{}, credentialsFor, func() ([]store.Credential, error) { return c.List(ctx) })
	if err == nil && nameOf(wanted, all) == "" {
		// It may have been added since. Wrong ones, of which any client can send many, do not share this read:
		// valid ones would wait for each.
		all, err = c.List(ctx)
	}
	if err != nil {
		return "", fmt.Errorf("verifying a credential: %w", err)
	}
	if name = nameOf(wanted, all); name == "" {
		return "", ErrBadCredential
	}
	return name, nil
}

func validCredential(credential string) bool {
	secret, ok := strings.CutPrefix(credential, credentialPrefix)
	return ok && validSecret(secret)
}

// nameOf returns the name of the credential with the given digest, or "" if no credential has it.
func nameOf(wanted digest, all []store.Credential) (name string) {
	for _, c := range all {
		if wanted.matches(c.Digest) {
			name = c.Name
		}
	}
	return name
}

// Create adds a credential and returns it. It cannot be retrieved later, because the store
// has only its digest. The error is ErrCredentialExists if the name is in use, and an
// *invalid.Error if the name is malformed.
func (c *Credentials) Create(ctx context.Context, name string) (string, error) {
	if !validName(name) || strings.Contains(name, " ") {
		return "", invalid.Field("name", "must be 1 to %d characters from a–z, A–Z, 0–9 and “-_.”", maxNameLength)
	}
	all, err := c.List(ctx)
	if err != nil {
		return "", err
	}
	if len(all) >= maxCredentials {
		return "", fmt.Errorf("the maximum of %d credentials is reached; revoke one first", len(all))
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

// List returns the credentials, sorted by name.
func (c *Credentials) List(ctx context.Context) ([]store.Credential, error) {
	return c.credentials.All(ctx)
}

// Revoke removes the credential with the given name, or returns ErrNoCredential if there is
// none.
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
