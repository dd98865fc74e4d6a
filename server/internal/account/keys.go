package account

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	lru "github.com/hashicorp/golang-lru/v2"
	"golang.org/x/crypto/ssh"
	"golang.org/x/sync/semaphore"

	"github.com/gridstand/gridstand/internal/id"
	"github.com/gridstand/gridstand/internal/sshsig"
	"github.com/gridstand/gridstand/server/internal/invalid"
	"github.com/gridstand/gridstand/server/internal/store"
)

var (
	// ErrKeyNotLinked is returned for an SSH key that is not linked to any account.
	ErrKeyNotLinked = errors.New("the key is not linked to an account")
	// ErrKeyNotFound is returned if the given account has no such SSH key.
	ErrKeyNotFound = errors.New("the account has no such key")
	// ErrKeyTaken is returned for an SSH key that is linked to another account, or that a
	// concurrent call is using to create an account.
	ErrKeyTaken = store.ErrKeyHeld
	// ErrTooManyKeys is returned if an account already has the maximum number of keys.
	ErrTooManyKeys = store.ErrTooManyKeys
)

const (
	// maxKeys is the maximum number of SSH keys per account.
	maxKeys = 8
	// maxComment is the maximum length of the comment of a key or session, in characters.
	maxComment = 64
	// signatureNamespace is the namespace of signatures that prove possession of a key. The
	// signed message is the player's id.
	signatureNamespace = "gridstand"
)

// Keys manages the SSH keys of a Store's players. It is safe for concurrent use.
type Keys struct {
	keys     store.Keys
	accounts *Store
	// verified caches the player that each key is linked to, by fingerprint.
	verified *lru.Cache[string, verification]
	// verifying is held while a signature is verified. Because that takes milliseconds, the
	// server verifies one at a time, so that signatures keep only one processor busy.
	verifying *semaphore.Weighted
}

// NewKeys returns a Keys that manages the keys in a store.
func NewKeys(keys store.Keys, accounts *Store) *Keys {
	return &Keys{keys: keys, accounts: accounts, verified: newCache[string, verification](), verifying: semaphore.NewWeighted(1)}
}

// Player returns the player to whom the key is linked, or ErrKeyNotLinked. The call counts
// as a use of the account. Unless anew is set, a removed key may be accepted for up to half a minute.
func (k *Keys) Player(ctx context.Context, fingerprint string, anew bool) (Player, error) {
	now := time.Now()
	if v, ok := k.verified.Get(fingerprint); ok && !anew && now.Before(v.until) {
		return k.accounts.latest(v.player), nil
	}
	if !ValidFingerprint(fingerprint) {
		return Player{}, ErrKeyNotLinked
	}
	owner, linked, err := k.keys.Owner(ctx, fingerprint)
	if err != nil {
		return Player{}, fmt.Errorf("finding the player of a key: %w", err)
	}
	if !linked {
		k.verified.Remove(fingerprint)
		return Player{}, ErrKeyNotLinked
	}
	player := playerOf(owner)
	// Ignore errors: the account exists even if it cannot be renewed.
	_ = k.accounts.Renew(ctx, player.ID)
	k.verified.Add(fingerprint, verification{player: player, until: now.Add(verifiedFor)})
	return player, nil
}

// Create creates an account without a token and links the key to it. A repeated call with
// the same name and key returns the same player. It returns the errors of Store.Create, or
// ErrKeyTaken.
func (k *Keys) Create(ctx context.Context, name, fingerprint string, bot bool) (Player, error) {
	if err := newName(name); err != nil {
		return Player{}, err
	}
	// The player's id is derived from the name and the key, so that retrying a call that failed
	// halfway completes it.
	secret := createdWith(fingerprint)
	a := store.Account{
		ID:   id.Derive([]byte("player of a key"), []byte(strings.ToLower(name)), []byte(fingerprint)),
		Name: name, Secret: secret.String(), Bot: bot,
	}
	holder, err := k.keys.Create(ctx, a, k.accounts.keep, fingerprint)
	switch {
	case err != nil:
		return Player{}, fmt.Errorf("creating a player with a key: %w", err)
	case holder.ID != a.ID || !secret.matches(holder.Secret):
		return Player{}, ErrNameTaken
	}
	_ = k.accounts.Renew(ctx, holder.ID)
	return playerOf(holder), nil
}

// createdWith returns the digest that stands for the secret of an account that was created with a key. No
// token can have this secret, because a token's secret contains no spaces.
func createdWith(fingerprint string) digest { return digestOf("no token, created with " + fingerprint) }

// Add links the signing key to a player. The signature, in the format of package sshsig,
// proves that the player has the private key. If the key is already linked to the player,
// Add returns it unchanged. The error is ErrKeyTaken, ErrTooManyKeys, ErrNotFound for an
// unknown player, or an *invalid.Error for an invalid signature or comment.
func (k *Keys) Add(ctx context.Context, playerID, signature, comment string) (store.Key, error) {
	if !validComment(comment) {
		return store.Key{}, invalid.Field("comment", "must have at most %d characters and no control characters", maxComment)
	}
	public, err := k.verify(ctx, playerID, signature)
	if err != nil {
		return store.Key{}, err
	}
	key := store.Key{Fingerprint: ssh.FingerprintSHA256(public), PlayerID: playerID, Comment: comment}
	stored, err := k.keys.Link(ctx, key, maxKeys)
	if err != nil {
		return store.Key{}, fmt.Errorf("linking a key: %w", err)
	}
	return stored, nil
}

// verify returns the key that signed the player's id.
func (k *Keys) verify(ctx context.Context, playerID, signature string) (ssh.PublicKey, error) {
	if err := k.verifying.Acquire(ctx, 1); err != nil {
		return nil, err
	}
	defer k.verifying.Release(1)
	public, err := sshsig.Verify(signature, signatureNamespace, playerID)
	if err != nil {
		return nil, invalid.Field("signature", "%v", err)
	}
	return public, nil
}

// List returns a player's keys, oldest first.
func (k *Keys) List(ctx context.Context, playerID string) ([]store.Key, error) {
	return k.keys.Keys(ctx, playerID)
}

// Remove unlinks a key from a player. The error is ErrKeyNotFound if the key is not linked
// to the player, and an *invalid.Error if the fingerprint is malformed.
func (k *Keys) Remove(ctx context.Context, playerID, fingerprint string) error {
	if !ValidFingerprint(fingerprint) {
		return invalid.Field("fingerprint", "must be SHA256: followed by 43 characters of base64, as shown by ssh-keygen -l")
	}
	// Replace the secret of an account that was created with the key. Otherwise a client with the key could
	// repeat the call that created the account, which would link the key again.
	created, other := createdWith(fingerprint).String(), digestOf(rand.Text()).String()
	if err := k.accounts.accounts.SetSecret(ctx, playerID, created, other); err != nil {
		return fmt.Errorf("removing a key: %w", err)
	}
	found, err := k.keys.Unlink(ctx, playerID, fingerprint)
	if err != nil {
		return fmt.Errorf("removing a key: %w", err)
	}
	k.verified.Remove(fingerprint)
	if !found {
		return ErrKeyNotFound
	}
	return nil
}

const fingerprintPrefix = "SHA256:"

// ValidFingerprint reports whether s has the form of a key's fingerprint.
func ValidFingerprint(s string) bool {
	encoded, ok := strings.CutPrefix(s, fingerprintPrefix)
	if !ok || len(encoded) != base64.RawStdEncoding.EncodedLen(sha256.Size) {
		return false
	}
	// The decoder ignores line breaks, so check the length, too.
	sum, err := base64.RawStdEncoding.Strict().DecodeString(encoded)
	return err == nil && len(sum) == sha256.Size
}

func validComment(s string) bool {
	return utf8.RuneCountInString(s) <= maxComment && !strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) })
}
