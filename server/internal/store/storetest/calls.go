package storetest

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/gridstand/gridstand/server/internal/store"
)

// CallsEnd tests that calls end when their context does.
func CallsEnd(t *testing.T, open Open) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for name, err := range Calls(ctx, open(t)) {
		assert.ErrorIs(t, err, context.Canceled, name)
	}
}

// Calls calls the methods that clients' calls lead to, apart from those of games and
// lists, and returns their errors by name.
func Calls(ctx context.Context, s *store.Store) map[string]error {
	a, c := newAccount("Ann"), store.Challenge{ID: "a", Expires: time.Now().Add(time.Hour)}
	errs := map[string]error{}
	_, errs["Accounts.Get"] = s.Accounts.Get(ctx, []string{a.ID})
	_, errs["Accounts.Holder"] = s.Accounts.Holder(ctx, a.Name)
	_, errs["Accounts.Create"] = s.Accounts.Create(ctx, a, keepAccounts)
	_, errs["Accounts.Rename"] = s.Accounts.Rename(ctx, a.ID, a.Name, "another", 0)
	errs["Accounts.SetSecret"] = s.Accounts.SetSecret(ctx, a.ID, a.Secret, "another")
	errs["Accounts.Renew"] = s.Accounts.Renew(ctx, keepAccounts, a.ID)
	_, _, errs["Keys.Owner"] = s.Keys.Owner(ctx, keyOne)
	_, errs["Keys.Create"] = s.Keys.Create(ctx, a, keepAccounts, keyOne)
	_, errs["Keys.Link"] = s.Keys.Link(ctx, store.Key{Fingerprint: keyOne, PlayerID: a.ID}, 8)
	_, errs["Keys.Unlink"] = s.Keys.Unlink(ctx, a.ID, keyOne)
	_, errs["Keys.Keys"] = s.Keys.Keys(ctx, a.ID)
	_, errs["Sessions.Offer"] = s.Sessions.Offer(ctx, a.ID, "link", time.Minute)
	_, errs["Sessions.Open"] = s.Sessions.Open(ctx, "link", store.Session{ID: "a"}, 8, keepAccounts)
	_, errs["Sessions.Sessions"] = s.Sessions.Sessions(ctx, a.ID)
	errs["Sessions.Renew"] = s.Sessions.Renew(ctx, a.ID, "a", keepAccounts)
	_, errs["Sessions.End"] = s.Sessions.End(ctx, a.ID, "a")
	_, errs["Credentials.Add"] = s.Credentials.Add(ctx, store.Credential{Name: "host", Digest: "digest"})
	_, errs["Credentials.All"] = s.Credentials.All(ctx)
	_, errs["Credentials.Remove"] = s.Credentials.Remove(ctx, "host")
	_, errs["Boards.Page"] = s.Boards.Page(ctx, allTime, 0, 1)
	_, _, errs["Boards.Place"] = s.Boards.Place(ctx, allTime, "a")
	_, errs["Boards.AtLeast"] = s.Boards.AtLeast(ctx, allTime, 1)
	errs["Boards.Record"] = s.Boards.Record(ctx, scored("a", 1, 1), allTime)
	errs["Boards.Hide"] = s.Boards.Hide(ctx, "a")
	errs["Boards.Unhide"] = s.Boards.Unhide(ctx, "a")
	_, errs["Boards.Hidden"] = s.Boards.Hidden(ctx, "a")
	errs["Boards.Clear"] = s.Boards.Clear(ctx)
	_, _, errs["Challenges.Get"] = s.Challenges.Get(ctx, c.ID)
	errs["Challenges.Update"] = s.Challenges.Update(ctx, c)
	_, errs["Challenges.List"] = s.Challenges.List(ctx, 0, store.Place{}, 10)
	_, _, errs["Profiles.Get"] = s.Profiles.Get(ctx, a.ID)
	errs["Profiles.Update"] = s.Profiles.Update(ctx, a.ID, store.Profile{})
	_, errs["Secrets.Secret"] = s.Secrets.Secret(ctx, "page", []byte("secret"))
	return errs
}
