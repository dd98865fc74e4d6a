package redis

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/gridstand/gridstand/server/internal/store"
)

var (
	linkKeyScript    = newScript("link_key.lua")
	releaseKeyScript = newScript("release_key.lua")
)

// keys implements store.Keys. A key's owner and an account's keys are in different
// cluster slots. A key counts as linked if the key has an owner and that account has the
// key. The owner is written last and removed last, and is ignored if the account does not
// have the key.
//
// While Create creates an account, the owner is a temporary claim: the ID with a prefix,
// in a key that expires.
type keys struct{ accounts }

func keysKey(playerID string) string   { return playerKey(playerID) + ":keys" }
func keyKey(fingerprint string) string { return "player:ssh-key:{" + fingerprint + "}" }

// claimMark is the prefix of the ID in a claim.
const claimMark = "claimed for "

func (k keys) Owner(ctx context.Context, fingerprint string) (store.Account, bool, error) {
	owner, err := k.client.Get(ctx, keyKey(fingerprint)).Result()
	if errors.Is(err, goredis.Nil) || strings.HasPrefix(owner, claimMark) {
		return store.Account{}, false, nil
	}
	if err != nil {
		return store.Account{}, false, failed(err)
	}
	return k.linked(ctx, owner, fingerprint)
}

// linked returns an account, and reports whether it exists and has the key.
func (k keys) linked(ctx context.Context, playerID, fingerprint string) (store.Account, bool, error) {
	pipe := k.client.Pipeline()
	fields, has := pipe.HMGet(ctx, playerKey(playerID), accountFields...), pipe.HExists(ctx, keysKey(playerID), fingerprint)
	if _, err := pipe.Exec(ctx); err != nil {
		return store.Account{}, false, failed(err)
	}
	account, exists, err := parseAccount(playerID, fields.Val())
	return account, exists && has.Val(), err
}

func (k keys) Create(ctx context.Context, a store.Account, keep time.Duration, fingerprint string) (store.Account, error) {
	owner, linked, err := k.take(ctx, fingerprint, claimMark+a.ID, claimFor)
	switch {
	case err != nil:
		return store.Account{}, err
	case linked.ID == a.ID:
		return linked, nil
	case owner != claimMark+a.ID:
		return store.Account{}, store.ErrKeyHeld
	}
	holder, err := k.accounts.Create(ctx, a, keep)
	if err == nil && holder.ID == a.ID && holder.Secret == a.Secret {
		_, err := k.Link(ctx, store.Key{Fingerprint: fingerprint, PlayerID: a.ID}, 0)
		return holder, err
	}
	if err == nil || errors.Is(err, store.ErrNameHeld) {
		// Release the claim: the caller may retry with another name, and a new account
		// ID.
		if _, err := k.release(ctx, fingerprint, owner); err != nil {
			return store.Account{}, err
		}
	}
	return holder, err
}

// take makes the account wanted the owner of a key for the duration keep, or permanently if
// keep is 0, unless the key is linked to or claimed for another account. It may replace a
// claim for that account. It returns the current owner, and the account that the key was
// already linked to, if any.
func (k keys) take(ctx context.Context, fingerprint, wanted string, keep time.Duration) (owner string, linked store.Account, err error) {
	stale := wanted
	for range 3 { // The owner can change between two commands, but is unlikely to change twice.
		claimed, err := k.claim(ctx, keyKey(fingerprint), wanted, keep, claimMark+wanted, stale)
		if err != nil {
			return "", store.Account{}, err
		}
		if owner = claimed.holder; owner == wanted || strings.HasPrefix(owner, claimMark) {
			return owner, store.Account{}, nil
		}
		account, ok, err := k.linked(ctx, owner, fingerprint)
		if ok || err != nil {
			return owner, account, err
		}
		// The account has expired, or a call to Unlink was interrupted.
		stale = owner
	}
	return owner, store.Account{}, nil
}

// release removes a key's owner, and reports whether it was still the given one.
func (k keys) release(ctx context.Context, fingerprint, owner string) (bool, error) {
	released, err := releaseKeyScript.Run(ctx, k.client, []string{keyKey(fingerprint)}, owner).Bool()
	return released, failed(err)
}

func (k keys) Link(ctx context.Context, key store.Key, limit int) (store.Key, error) {
	owner, linked, err := k.Owner(ctx, key.Fingerprint)
	if err != nil {
		return store.Key{}, err
	}
	if linked && owner.ID != key.PlayerID {
		return store.Key{}, store.ErrKeyHeld
	}
	stored, left, err := k.add(ctx, key, limit)
	if err != nil {
		return store.Key{}, err
	}
	holder, _, err := k.take(ctx, key.Fingerprint, key.PlayerID, left)
	if err != nil {
		return store.Key{}, err
	}
	if holder != key.PlayerID {
		if err := k.client.HDel(ctx, keysKey(key.PlayerID), key.Fingerprint).Err(); err != nil {
			return store.Key{}, failed(err)
		}
		return store.Key{}, store.ErrKeyHeld
	}
	return stored, nil
}

// add adds a key to an account. It returns the key as stored, and the time until the
// account expires, or 0 if it never does.
func (k keys) add(ctx context.Context, key store.Key, limit int) (stored store.Key, left time.Duration, err error) {
	reply, err := linkKeyScript.Run(ctx, k.client, []string{playerKey(key.PlayerID), keysKey(key.PlayerID)},
		key.Fingerprint, key.Comment, limit).Slice()
	if err != nil {
		return store.Key{}, 0, failed(err)
	}
	switch stringAt(reply, 0) {
	case "none":
		return store.Key{}, 0, store.ErrNoAccount
	case "full":
		return store.Key{}, 0, store.ErrTooManyKeys
	}
	milliseconds, err := strconv.ParseInt(stringAt(reply, 1), 10, 64)
	if err != nil {
		return store.Key{}, 0, store.Failed(store.Corrupt, "link_key.lua returned no time: %w", err)
	}
	stored, err = parseKey(key.PlayerID, key.Fingerprint, stringAt(reply, 0))
	return stored, max(0, time.Duration(milliseconds)*time.Millisecond), err
}

func (k keys) Unlink(ctx context.Context, playerID, fingerprint string) (bool, error) {
	removed, err := removeField(ctx, k.client, keysKey(playerID), fingerprint)
	if err != nil {
		return false, err
	}
	// An earlier call may have ended before it released the owner.
	released, err := k.release(ctx, fingerprint, playerID)
	return released || removed, err
}

// removeField removes a field of a hash, and reports whether it existed. It looks for the field first: if the
// reply to HDEL is lost, the client sends it again, and the field is gone.
func removeField(ctx context.Context, client goredis.UniversalClient, key, field string) (existed bool, err error) {
	existed, err = client.HExists(ctx, key, field).Result()
	if existed {
		err = client.HDel(ctx, key, field).Err()
	}
	return existed, failed(err)
}

func (k keys) Keys(ctx context.Context, playerID string) ([]store.Key, error) {
	pipe := k.client.Pipeline()
	exists, fields := pipe.Exists(ctx, playerKey(playerID)), pipe.HGetAll(ctx, keysKey(playerID))
	if _, err := pipe.Exec(ctx); err != nil {
		return nil, failed(err)
	}
	if exists.Val() == 0 {
		return nil, nil
	}
	for fingerprint := range fields.Val() {
		switch owner, err := k.client.Get(ctx, keyKey(fingerprint)).Result(); {
		case err != nil && !errors.Is(err, goredis.Nil):
			return nil, failed(err)
		case owner != playerID: // A call to Link ended before it wrote the owner.
			delete(fields.Val(), fingerprint)
		}
	}
	parse := func(fingerprint, text string) (store.Key, error) { return parseKey(playerID, fingerprint, text) }
	return parseAll(fields.Val(), parse, func(a, b store.Key) int {
		return cmp.Or(a.Added.Compare(b.Added), cmp.Compare(a.Fingerprint, b.Fingerprint))
	})
}

// parseAll returns what parse reads from the fields of a hash, in the order of compare.
func parseAll[T any](fields map[string]string, parse func(field, text string) (T, error), compare func(a, b T) int) ([]T, error) {
	var all []T
	for field, text := range fields {
		value, err := parse(field, text)
		if err != nil {
			return nil, err
		}
		all = append(all, value)
	}
	slices.SortFunc(all, compare)
	return all, nil
}

func parseKey(playerID, fingerprint, text string) (store.Key, error) {
	added, comment, err := parseTimed(text)
	if err != nil {
		return store.Key{}, store.Failed(store.Corrupt, "the key %s of player %s has no time: %w", fingerprint, playerID, err)
	}
	return store.Key{Fingerprint: fingerprint, PlayerID: playerID, Comment: comment, Added: added}, nil
}

// timedText formats a time and a string as one value to store. parseTimed is its inverse.
func timedText(at time.Time, text string) string {
	return strconv.FormatInt(at.UnixMilli(), 10) + " " + text
}

func parseTimed(stored string) (at time.Time, text string, err error) {
	milliseconds, text, _ := strings.Cut(stored, " ")
	at, err = parseTime(milliseconds)
	return at, text, err
}

// credentials implements store.Credentials with a hash from names to times and digests.
type credentials struct{ client goredis.UniversalClient }

const credentialsKey = "games:ssh-credentials"

func (s credentials) Add(ctx context.Context, c store.Credential) (bool, error) {
	now, err := s.client.Time(ctx).Result()
	if err != nil {
		return false, failed(err)
	}
	text, pipe := timedText(now, c.Digest), s.client.Pipeline()
	pipe.HSetNX(ctx, credentialsKey, c.Name, text)
	stored := pipe.HGet(ctx, credentialsKey, c.Name) // If the replies are lost, the client sends both again.
	_, err = pipe.Exec(ctx)
	return stored.Val() == text, failed(err)
}

func (s credentials) All(ctx context.Context) ([]store.Credential, error) {
	fields, err := s.client.HGetAll(ctx, credentialsKey).Result()
	if err != nil {
		return nil, failed(err)
	}
	parse := func(name, text string) (store.Credential, error) {
		created, digest, err := parseTimed(text)
		if err != nil {
			err = store.Failed(store.Corrupt, "the credential %s has no time: %w", name, err)
		}
		return store.Credential{Name: name, Digest: digest, Created: created}, err
	}
	return parseAll(fields, parse, func(a, b store.Credential) int { return cmp.Compare(a.Name, b.Name) })
}

func (s credentials) Remove(ctx context.Context, name string) (bool, error) {
	return removeField(ctx, s.client, credentialsKey, name)
}
