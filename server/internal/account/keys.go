package account

import (
	"context"
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

	"github.com/gridstand/gridstand/internal/id"
	"github.com/gridstand/gridstand/internal/sshsig"
	"github.com/gridstand/gridstand/server/internal/invalid"
	"github.com/gridstand/gridstand/server/internal/store"
)

var (
	// ErrKeyNotLinked is returned for an SSH key that is linked to no account, or not to
	// this one.
	ErrKeyNotLinked = errors.New("the key is linked to no account")
	// ErrKeyTaken is returned for an SSH key that is linked to another account, or with
	// which another call is creating one.
	ErrKeyTaken = errors.New("the key is linked to another account")
	// ErrTooManyKeys is returned if an account has MaxKeys keys.
	ErrTooManyKeys = errors.New("too many keys")
)

const (
	// MaxKeys is how many SSH keys an account can have.
	MaxKeys = 8
	// maxComment is how many characters the comment of a key can have.
	maxComment = 64
	// signatureNamespace says what the signatures are for that prove the possession of
	// a key. The message is the player's id.
	signatureNamespace = "gridstand"
)

// Keys are the SSH keys of a Store's players. All methods may be called concurrently.
type Keys struct {
	keys     store.Keys
	accounts *Store
	// verified are the players of keys, by fingerprint.
	verified *lru.Cache[string, verification]
}

// NewKeys returns the keys in a store.
func NewKeys(keys store.Keys, accounts *Store) *Keys {
	return &Keys{keys: keys, accounts: accounts, verified: newCache[string, verification]()}
}

// Player returns the player to whom a key is linked, or ErrKeyNotLinked. It counts as a
// use of the account. A key that was removed is accepted for up to half a minute.
func (k *Keys) Player(ctx context.Context, fingerprint string) (Player, error) {
	now := time.Now()
	if v, ok := k.verified.Get(fingerprint); ok && now.Before(v.until) {
		return v.player, nil
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
	// The player is known, whether or not this succeeds.
	_ = k.accounts.Renew(ctx, player.ID)
	k.verified.Add(fingerprint, verification{player: player, until: now.Add(verifiedFor)})
	return player, nil
}

// Create makes an account with a key linked to it, and without a token. The same name
// and key return the same player. The errors are those of Store.Create, and ErrKeyTaken.
func (k *Keys) Create(ctx context.Context, name, fingerprint string, bot bool) (Player, error) {
	if err := checkName(name); err != nil {
		return Player{}, err
	}
	if err := newName(name); err != nil {
		return Player{}, err
	}
	// No token can have this secret. The player's id is derived, so that a retry of a
	// call that failed halfway finishes it.
	secret := digestOf("no token, created with " + fingerprint)
	a := store.Account{
		ID:   id.Derive([]byte("player of a key"), []byte(strings.ToLower(name)), []byte(fingerprint)),
		Name: name, Secret: secret.String(), Bot: bot,
	}
	holder, err := k.keys.Create(ctx, a, k.accounts.keep, fingerprint)
	switch {
	case errors.Is(err, store.ErrKeyHeld):
		return Player{}, ErrKeyTaken
	case errors.Is(err, store.ErrNameHeld):
		return Player{}, ErrNameTaken
	case err != nil:
		return Player{}, fmt.Errorf("creating a player with a key: %w", err)
	case holder.ID != a.ID || !secret.matches(holder.Secret):
		return Player{}, ErrNameTaken
	}
	_ = k.accounts.Renew(ctx, holder.ID)
	return playerOf(holder), nil
}

// Add links a key to a player. The signature, in the format of package sshsig, proves
// that the player has the private key. A key that is linked to the player already is
// returned as it is. The error is ErrKeyTaken, ErrTooManyKeys, ErrNotFound for an
// unknown player, and an *invalid.Error for a signature or comment that is not valid.
func (k *Keys) Add(ctx context.Context, playerID, signature, comment string) (store.Key, error) {
	if !validComment(comment) {
		return store.Key{}, invalid.Field("comment", "must be up to %d characters, and no control characters", maxComment)
	}
	public, err := sshsig.Verify(signature, signatureNamespace, playerID)
	if err != nil {
		return store.Key{}, invalid.Field("signature", "%v", err)
	}
	key := store.Key{Fingerprint: ssh.FingerprintSHA256(public), PlayerID: playerID, Comment: comment}
	stored, err := k.keys.Link(ctx, key, MaxKeys)
	switch {
	case errors.Is(err, store.ErrKeyHeld):
		return store.Key{}, ErrKeyTaken
	case errors.Is(err, store.ErrTooManyKeys):
		return store.Key{}, ErrTooManyKeys
	case errors.Is(err, store.ErrNoAccount):
		return store.Key{}, ErrNotFound
	case err != nil:
		return store.Key{}, fmt.Errorf("linking a key: %w", err)
	}
	return stored, nil
}

// List lists the keys of a player, the oldest first.
func (k *Keys) List(ctx context.Context, playerID string) ([]store.Key, error) {
	all, err := k.keys.Keys(ctx, playerID)
	if err != nil {
		return nil, fmt.Errorf("listing keys: %w", err)
	}
	return all, nil
}

// Remove removes a key from a player. The error is ErrKeyNotLinked if it was not linked
// to the player, and an *invalid.Error for a malformed fingerprint.
func (k *Keys) Remove(ctx context.Context, playerID, fingerprint string) error {
	if !ValidFingerprint(fingerprint) {
		return invalid.Field("fingerprint", "must be SHA256: and 43 characters of base64, as ssh-keygen -l shows it")
	}
	found, err := k.keys.Unlink(ctx, playerID, fingerprint)
	if err != nil {
		return fmt.Errorf("removing a key: %w", err)
	}
	k.verified.Remove(fingerprint)
	if !found {
		return ErrKeyNotLinked
	}
	return nil
}

const fingerprintPrefix = "SHA256:"

// ValidFingerprint reports whether a text has the form of a key's fingerprint.
func ValidFingerprint(s string) bool {
	encoded, ok := strings.CutPrefix(s, fingerprintPrefix)
	if !ok || len(encoded) != base64.RawStdEncoding.EncodedLen(sha256.Size) {
		return false
	}
	// The decoder ignores line ends.
	sum, err := base64.RawStdEncoding.Strict().DecodeString(encoded)
	return err == nil && len(sum) == sha256.Size
}

func validComment(s string) bool {
	return utf8.RuneCountInString(s) <= maxComment && !strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) })
}
