package redis

import (
	"context"
	"errors"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/gridstand/gridstand/internal/names"
	"github.com/gridstand/gridstand/server/internal/store"
)

var (
	claimScript     = newScript("claim.lua")
	setFieldsScript = newScript("set_fields.lua")
)

const (
	// claimFor is how long a name or key stays claimed if the call that claimed it fails
	// before writing the account. No call takes that long.
	claimFor  = time.Minute
	permanent = 0
)

// accounts implements store.Accounts with these keys. The braces are literal, so that one
// player's keys share a cluster slot.
//
//	player:{<id>}                   hash: name, secret (digest), bot, created, renamed if it was, and the profile (see type profiles)
//	player:{<id>}:keys              hash: fingerprint of an SSH key → time added and comment
//	player:ssh-key:{<fingerprint>}  ID of the player that the key is linked to (see type keys)
//	player-name:{<folded name>}     ID of the player who holds the name and all that look like it
//	player-name:{<lower-case name>} the same from before names were folded; unused
//	player-name:folded              1 if all names of that time have their folded form, too
type accounts struct{ client goredis.UniversalClient }

func playerKey(playerID string) string { return "player:{" + playerID + "}" }
func nameKey(name string) string       { return "player-name:{" + name + "}" }

// foldedKey marks a store in which each held name is also held in its folded form.
const foldedKey = "player-name:folded"

func (a accounts) Get(ctx context.Context, ids []string) (map[string]store.Account, error) {
	pipe, replies := a.client.Pipeline(), make([]*goredis.SliceCmd, len(ids))
	for i, id := range ids {
		replies[i] = pipe.HMGet(ctx, playerKey(id), accountFields...)
	}
	if _, err := pipe.Exec(ctx); err != nil {
		return nil, failed(err)
	}
	return store.ByID(ids, func(i int) (store.Account, bool, error) { return parseAccount(ids[i], replies[i].Val()) })
}

func (a accounts) Holder(ctx context.Context, name string) (string, error) {
	holder, err := a.client.Get(ctx, nameKey(names.Fold(name))).Result()
	if errors.Is(err, goredis.Nil) {
		return "", nil
	}
	return holder, failed(err)
}

// foldNames holds the folded form of every name that is held, so that no new account takes a name
// that looks like it. It does so once in the life of a store.
func (a accounts) foldNames(ctx context.Context) error {
	done, err := a.client.Exists(ctx, foldedKey).Result()
	if err != nil || done == 1 {
		return failed(err)
	}
	seen := false // An empty store stays empty, so that a dump can be restored to it.
	err = scanKeys(ctx, a.client, nameKey("*"), func(keys []string) error {
		seen = seen || len(keys) > 0
		pipe, holders := a.client.Pipeline(), make([]*goredis.StringCmd, len(keys))
		for i, key := range keys {
			holders[i] = pipe.Get(ctx, key)
		}
		_, _ = pipe.Exec(ctx) // The loop below checks each command's error: a claim may have expired.
		pipe = a.client.Pipeline()
		for i, key := range keys {
			switch holder, err := holders[i].Result(); {
			case err == nil:
				pipe.SetNX(ctx, nameKey(names.Fold(between(key, nameKey("*")))), holder, 0)
			case !errors.Is(err, goredis.Nil):
				return err
			}
		}
		_, err := pipe.Exec(ctx)
		return err
	})
	if err == nil && seen {
		err = a.client.Set(ctx, foldedKey, 1, 0).Err()
	}
	return failed(err)
}

// Create claims the name temporarily, writes the account, and then claims the name
// permanently. It needs these steps because the name and the account may be in different
// cluster slots.
func (a accounts) Create(ctx context.Context, account store.Account, keep time.Duration) (store.Account, error) {
	folded := nameKey(names.Fold(account.Name))
	claimed, err := a.claim(ctx, folded, account.ID, claimFor)
	if err != nil {
		return store.Account{}, err
	}
	// Another account holds the name, or this one has held it since an earlier call and
	// may have expired since. An expired account must not be recreated.
	if claimed.holder != account.ID || claimed.lasting {
		return a.existing(ctx, claimed.holder, store.ErrNameHeld)
	}
	now, err := a.client.Time(ctx).Result()
	if err != nil {
		return store.Account{}, failed(err)
	}
	var expires time.Time
	if keep > 0 {
		expires = now.Add(keep)
	}
	account.Created, account.Renamed = now, time.Time{}
	if _, err := setFields(ctx, a.client, playerKey(account.ID), "", "", expires, accountValues(account)...); err != nil {
		return store.Account{}, err
	}
	// If this call hung until its claim expired, another call may have taken the name. Then no
	// caller learns of the account that this one wrote.
	claimed, err = a.claim(ctx, folded, account.ID, permanent)
	if err != nil {
		return store.Account{}, err
	}
	return a.existing(ctx, claimed.holder, store.ErrNameHeld)
}

// claimResult describes who holds a name or an SSH key after a call of claim.
type claimResult struct {
	holder  string // the ID of the account that holds it
	lasting bool   // whether the claim never expires
	isNew   bool   // whether the call made the claim; false if it was repeated after a lost reply
}

// claim claims the key of a name or of an SSH key for an owner, for the given duration or permanently,
// unless it has another owner than those that may be replaced.
func (a accounts) claim(ctx context.Context, key, owner string, keep time.Duration, replaced ...any) (claimResult, error) {
	args := append([]any{owner, keep.Milliseconds()}, replaced...)
	reply, err := claimScript.Run(ctx, a.client, []string{key}, args...).StringSlice()
	if err != nil {
		return claimResult{}, failed(err)
	}
	if len(reply) != 3 {
		return claimResult{}, store.Failed(store.Corrupt, "claim.lua returned %d values", len(reply))
	}
	return claimResult{holder: reply[0], lasting: reply[1] == "1", isNew: reply[2] == "1"}, nil
}

// existing returns the account with the given ID, or the error otherwise if it does not exist: an account
// that holds a name may still be in creation, or have expired.
func (a accounts) existing(ctx context.Context, id string, otherwise error) (store.Account, error) {
	found, err := a.Get(ctx, []string{id})
	account, ok := found[id]
	if err == nil && !ok {
		err = otherwise
	}
	return account, err
}

// setFields writes fields of the hash at key if the given field has the expected value; a missing field has
// the value 0. If field is "", there must be no hash. Unless expires is zero, the hash expires then. The
// result is 1 if the fields were written, 0 if the field has another value, and −1 if there is a hash that
// must not exist, or none that must.
func setFields(
	ctx context.Context, client goredis.UniversalClient, key, field string, expected any, expires time.Time, values ...any,
) (int, error) {
	args := append([]any{field, expected, milliText(expires)}, values...)
	written, err := setFieldsScript.Run(ctx, client, []string{key}, args...).Int()
	return written, failed(err)
}

// accountFields are the fields of an account's hash, in the order that parseAccount
// expects. Only accounts that were renamed have the last one.
var accountFields = []string{"name", "secret", "bot", "created", "renamed"}

// accountValues returns the fields of an account's hash with their values.
func accountValues(a store.Account) []any {
	values := []any{"name", a.Name, "secret", a.Secret, "bot", a.Bot, "created", a.Created.UnixMilli()}
	if !a.Renamed.IsZero() {
		values = append(values, "renamed", a.Renamed.UnixMilli())
	}
	return values
}

// parseAccount reads the values of accountFields. It returns false if the hash does not
// exist.
func parseAccount(id string, values []any) (account store.Account, exists bool, err error) {
	account = store.Account{ID: id, Name: stringAt(values, 0), Secret: stringAt(values, 1), Bot: stringAt(values, 2) == "1"}
	if account.Name == "" {
		return store.Account{}, false, nil
	}
	account.Created, err = parseTime(stringAt(values, 3))
	if renamed := stringAt(values, 4); err == nil && renamed != "" {
		account.Renamed, err = parseTime(renamed)
	}
	if err != nil {
		return store.Account{}, false, store.Failed(store.Corrupt, "the account of player %s cannot be read: %w", id, err)
	}
	return account, true, nil
}

// Rename claims the name permanently before it renames the account: two accounts never have
// one name, and a call that fails in between leaves the account with a name that it holds
// but does not have, until the call is repeated.
func (a accounts) Rename(ctx context.Context, id, from, name string, every time.Duration) (store.Account, error) {
	stored, err := a.existing(ctx, id, store.ErrNoAccount)
	if err != nil || stored.Name != from {
		return stored, err
	}
	holder, err := a.Holder(ctx, name)
	if err != nil {
		return store.Account{}, err
	}
	if holder != "" && holder != id {
		return store.Account{}, store.ErrNameHeld
	}
	now, err := a.client.Time(ctx).Result()
	if err != nil || now.Sub(stored.Renamed) < every {
		return stored, failed(err) // To claim and release the name would write to the disk twice.
	}
	folded := nameKey(names.Fold(name))
	claimed, err := a.claim(ctx, folded, id, permanent)
	switch {
	case err != nil:
		return store.Account{}, err
	case claimed.holder != id:
		return store.Account{}, store.ErrNameHeld
	}
	if _, err := setFields(ctx, a.client, playerKey(id), "name", from, time.Time{}, "name", name, "renamed", now.UnixMilli()); err != nil {
		return store.Account{}, err
	}
	stored, err = a.existing(ctx, id, store.ErrNoAccount)
	// The account was not renamed, and did not hold the name before, or only until a concurrent call released it.
	if (holder == "" || claimed.isNew) && !store.IsError(err) && names.Fold(stored.Name) != names.Fold(name) {
		if err := releaseKeyScript.Run(ctx, a.client, []string{folded}, id).Err(); err != nil {
			return store.Account{}, failed(err)
		}
	}
	return stored, err
}

func (a accounts) SetSecret(ctx context.Context, id, from, secret string) error {
	_, err := setFields(ctx, a.client, playerKey(id), "secret", from, time.Time{}, "secret", secret)
	return err
}

// Renew renews key owners after the accounts, so that the owner of a key never expires
// before the account that lists the key.
func (a accounts) Renew(ctx context.Context, keep time.Duration, ids ...string) error {
	pipe, keys := a.client.Pipeline(), make([]*goredis.StringSliceCmd, len(ids))
	for i, id := range ids {
		pipe.PExpire(ctx, playerKey(id), keep)
		pipe.PExpire(ctx, keysKey(id), keep)
		pipe.PExpire(ctx, sessionsKey(id), keep)
		keys[i] = pipe.HKeys(ctx, keysKey(id))
	}
	if _, err := pipe.Exec(ctx); err != nil {
		return failed(err)
	}
	pipe = a.client.Pipeline()
	for _, fingerprints := range keys {
		for _, fingerprint := range fingerprints.Val() {
			pipe.PExpire(ctx, keyKey(fingerprint), keep)
		}
	}
	_, err := pipe.Exec(ctx)
	return failed(err)
}
