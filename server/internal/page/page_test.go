package page

import (
	"context"
	"encoding/base64"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/internal/id"
	"github.com/gridstand/gridstand/server/internal/invalid"
	"github.com/gridstand/gridstand/server/internal/store"
)

// secrets is a store with one secret. A test can make reads fail.
type secrets struct {
	secret []byte
	err    error
}

func (s *secrets) Secret(_ context.Context, _ string, proposed []byte) ([]byte, error) {
	if s.err != nil {
		return nil, s.err
	}
	if s.secret == nil {
		s.secret = proposed
	}
	return s.secret, nil
}

var errFailed = errors.New("the store failed")

func requireField(t *testing.T, err error, field string) {
	t.Helper()
	var e *invalid.Error
	require.ErrorAs(t, err, &e)
	assert.Equal(t, field, e.Field)
}

// Ensure that a token reveals nothing, and is valid for its query only, on all servers of the same store,
// including servers started later, but not on servers of another store.
func TestTokens(t *testing.T) {
	t.Parallel()
	stored, ctx, place := &secrets{}, t.Context(), store.Place{Rank: -7, GameID: id.New()}
	tokens, other := NewTokens(stored), NewTokens(stored)
	token, err := tokens.Seal(ctx, "query", place)
	require.NoError(t, err)
	for _, tokens := range []*Tokens{tokens, other, NewTokens(stored)} {
		opened, err := tokens.Open(ctx, "query", token)
		require.NoError(t, err)
		assert.Equal(t, place, opened)
	}
	top, err := tokens.Open(ctx, "query", "")
	require.NoError(t, err)
	assert.Zero(t, top)
	again, err := tokens.Seal(ctx, "query", place)
	require.NoError(t, err)
	assert.NotEqual(t, token, again)
	raw, err := base64.RawURLEncoding.DecodeString(token)
	require.NoError(t, err)
	assert.NotContains(t, string(raw), place.GameID)

	_, err = tokens.Open(ctx, "other", token)
	requireField(t, err, "page_token")
	require.ErrorContains(t, err, "begin again without it")
	_, err = NewTokens(&secrets{}).Open(ctx, "query", token)
	requireField(t, err, "page_token")
	for _, altered := range []string{"é", "====", token[1:], token[1:] + "\n", "\n" + token[1:], token + "A", token + "=", token + "\n", " " + token} {
		_, err := tokens.Open(ctx, "query", altered)
		requireField(t, err, "page_token")
	}
	for i := range token { // every token that differs in one character
		for _, c := range "Ab9_=\n" {
			if altered := token[:i] + string(c) + token[i+1:]; altered != token {
				_, err := tokens.Open(ctx, "query", altered)
				requireField(t, err, "page_token")
			}
		}
	}
}

// Ensure that a token with anything but a place is refused.
func TestTokens_NoPlace(t *testing.T) {
	t.Parallel()
	tokens, ctx := NewTokens(&secrets{}), t.Context()
	sealer, err := tokens.sealer(ctx)
	require.NoError(t, err)
	const rank = "12345678"
	player := id.New()
	for _, place := range []string{"", rank[1:], rank, rank + player[1:], rank + player + "a", rank + strings.Repeat("*", id.Length)} {
		token := encoding.EncodeToString(sealer.Seal(nil, nil, []byte(place), []byte("query")))
		for len(token) < encoding.EncodedLen(sealedLength) {
			token += "\n"
		}
		_, err = tokens.Open(ctx, "query", token)
		requireField(t, err, "page_token")
	}
}

// Ensure that calls fail until the store answers, except for a token that is too long, and that no later
// call reads the secret.
func TestTokens_StoreFails(t *testing.T) {
	t.Parallel()
	stored, ctx := &secrets{err: errFailed}, t.Context()
	tokens := NewTokens(stored)
	_, err := tokens.Seal(ctx, "query", store.Place{})
	require.ErrorIs(t, err, errFailed)
	_, err = tokens.Open(ctx, "query", strings.Repeat("A", encoding.EncodedLen(sealedLength)))
	require.ErrorIs(t, err, errFailed)
	_, err = tokens.Open(ctx, "query", strings.Repeat("A", 512))
	requireField(t, err, "page_token")
	stored.err = nil
	token, err := tokens.Seal(ctx, "query", store.Place{GameID: id.New()})
	require.NoError(t, err)
	stored.err = errFailed
	_, err = tokens.Open(ctx, "query", token)
	require.NoError(t, err)
}
