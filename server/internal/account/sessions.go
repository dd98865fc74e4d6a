package account

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/gridstand/gridstand/internal/id"
	"github.com/gridstand/gridstand/server/internal/invalid"
	"github.com/gridstand/gridstand/server/internal/store"
)

var (
	// ErrLinkNotFound is returned for a code that is unknown, used or expired.
	ErrLinkNotFound = store.ErrNoLink
	// ErrSessionNotFound is returned for a session that an account does not have.
	ErrSessionNotFound = errors.New("no such session")
	// ErrTooManySessions is returned if an account already has the maximum number of sessions.
	ErrTooManySessions = store.ErrTooManySessions
)

const (
	// maxSessions is the maximum number of sessions per account.
	maxSessions = 8
	// linkFor is how long the code of a link is valid.
	linkFor = 10 * time.Minute
)

// Sessions manages the sessions of a Store's players: further tokens, with which a player cannot
// change tokens, keys or sessions. It is safe for concurrent use.
type Sessions struct {
	sessions store.Sessions
	accounts *Store
	// verified caches verified tokens, also accounts' own, by what sessionID returns for them, so that
	// no secret is kept in memory.
	verified *lru.Cache[playerSession, verifiedToken]
}

type playerSession struct{ playerID, session string }

type verifiedToken struct {
	verification
	// session is "" for an account's own token.
	session string
}

// NewSessions returns a Sessions that manages the sessions in a store.
func NewSessions(sessions store.Sessions, accounts *Store) *Sessions {
	return &Sessions{sessions, accounts, newCache[playerSession, verifiedToken]()}
}

// sessionID returns the id of the session with the given secret.
func sessionID(secret string) string {
	d := digestOf(secret)
	return id.Derive([]byte("session"), d[:])
}

// Verify returns the player whom a token authenticates, and the session that it belongs to, or "" if
// it is the account's own token. The error is ErrBadToken for any other token. Unless anew is set, a
// token that was replaced or whose session was ended may be accepted for up to half a minute.
func (s *Sessions) Verify(ctx context.Context, token string, anew bool) (p Player, session string, err error) {
	playerID, secret, _ := strings.Cut(token, ".")
	if !id.Valid(playerID) || !validSecret(secret) {
		return Player{}, "", ErrBadToken
	}
	now, key := time.Now(), playerSession{playerID, sessionID(secret)}
	if v, ok := s.verified.Get(key); ok && !anew && now.Before(v.until) {
		return s.accounts.latest(v.player), v.session, nil
	}
	p, err = s.accounts.Verify(ctx, token)
	if errors.Is(err, ErrBadToken) {
		session = key.session
		p, err = s.verify(ctx, strings.Clone(playerID), session) // The original would keep the token in memory.
	}
	if err != nil {
		return Player{}, "", err
	}
	key.playerID = p.ID
	s.verified.Add(key, verifiedToken{verification{player: p, until: now.Add(verifiedFor)}, session})
	return p, session, nil
}

// verify returns the player of a session, or ErrBadToken if there is no such session.
func (s *Sessions) verify(ctx context.Context, playerID, session string) (Player, error) {
	open, err := s.List(ctx, playerID)
	if err != nil {
		return Player{}, err
	}
	if !slices.ContainsFunc(open, func(one store.Session) bool { return one.ID == session }) {
		return Player{}, ErrBadToken
	}
	p, err := s.accounts.Get(ctx, playerID)
	if errors.Is(err, ErrNotFound) {
		err = ErrBadToken
	}
	if err != nil {
		return Player{}, err
	}
	// Ignore errors: the session exists even if it cannot be renewed.
	_ = s.accounts.Renew(ctx, playerID)
	s.renew(ctx, playerID, session)
	return p, nil
}

// renew postpones the expiry of a session, seldom.
func (s *Sessions) renew(ctx context.Context, playerID, session string) {
	now := time.Now()
	if s.accounts.lapses(session, now) && s.sessions.Renew(ctx, playerID, session, s.accounts.keep) == nil {
		s.accounts.renewed.Add(session, now)
	}
}

// Offer returns a code that opens one session of a player, and the time at which it expires. It
// replaces the player's previous code. The error is ErrNotFound if the player does not exist.
func (s *Sessions) Offer(ctx context.Context, playerID string) (code string, expires time.Time, err error) {
	code = id.New()
	expires, err = s.sessions.Offer(ctx, playerID, digestOf(code).String(), linkFor)
	if err != nil {
		return "", expires, fmt.Errorf("offering a session: %w", err)
	}
	return code, expires, nil
}

// Open opens a session with a code and returns its player and token. If secret is empty, Open
// generates a random one. Repeating the call with the same secret changes nothing. The error is
// ErrLinkNotFound, ErrTooManySessions, or an *invalid.Error for a malformed code, secret or comment.
func (s *Sessions) Open(ctx context.Context, code, secret, comment string) (Player, string, error) {
	if !id.Valid(code) {
		return Player{}, "", invalid.Field("code", "must be %d characters from a–z and 2–7", id.Length)
	}
	if !validComment(comment) {
		return Player{}, "", invalid.Field("comment", "must have at most %d characters and no control characters", maxComment)
	}
	secret, err := chosenOrDrawn(secret)
	if err != nil {
		return Player{}, "", err
	}
	opened, err := s.sessions.Open(ctx, digestOf(code).String(), store.Session{ID: sessionID(secret), Comment: comment},
		maxSessions, s.accounts.keep)
	if err != nil {
		return Player{}, "", fmt.Errorf("opening a session: %w", err)
	}
	p, err := s.accounts.Get(ctx, opened.PlayerID)
	return p, token(opened.PlayerID, secret), err
}

// List returns a player's sessions, oldest first.
func (s *Sessions) List(ctx context.Context, playerID string) ([]store.Session, error) {
	return s.sessions.Sessions(ctx, playerID)
}

// End ends a session of a player, or returns ErrSessionNotFound.
func (s *Sessions) End(ctx context.Context, playerID, session string) error {
	found, err := s.sessions.End(ctx, playerID, session)
	if err != nil {
		return fmt.Errorf("ending a session: %w", err)
	}
	s.verified.Remove(playerSession{playerID, session})
	if !found {
		return ErrSessionNotFound
	}
	return nil
}

// EndAll ends all sessions of a player, and the link with which one could be opened.
func (s *Sessions) EndAll(ctx context.Context, playerID string) error {
	if _, _, err := s.Offer(ctx, playerID); err != nil { // The code that replaces the link's is sent to no client.
		return err
	}
	all, err := s.List(ctx, playerID)
	if err != nil {
		return err
	}
	for _, one := range all {
		if err := s.End(ctx, playerID, one.ID); err != nil && !errors.Is(err, ErrSessionNotFound) {
			return err
		}
	}
	return nil
}
