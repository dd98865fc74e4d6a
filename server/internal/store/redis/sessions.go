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

	"github.com/gridstand/gridstand/internal/convert"
	"github.com/gridstand/gridstand/server/internal/store"
)

var (
	openSessionScript  = newScript("open_session.lua")
	renewSessionScript = newScript("renew_session.lua")
)

// sessions implements store.Sessions with these keys.
//
//	player:{<id>}:sessions  hash: ID of a session → time opened, time at which it expires or 0, comment
//	player:{<id>}:link      the account's link, and the ID of the session that it opened
//	player:link:{<link>}    ID of the player
type sessions struct{ accounts }

func sessionsKey(playerID string) string { return playerKey(playerID) + ":sessions" }
func linkKey(playerID string) string     { return playerKey(playerID) + ":link" }
func linkedKey(link string) string       { return "player:link:{" + link + "}" }

// Offer writes the player of the link first, since a link is valid only if the account has it.
func (s sessions) Offer(ctx context.Context, playerID, link string, valid time.Duration) (time.Time, error) {
	if _, err := s.existing(ctx, playerID, store.ErrNoAccount); err != nil {
		return time.Time{}, err
	}
	pipe := s.client.Pipeline()
	now := pipe.Time(ctx)
	pipe.Set(ctx, linkedKey(link), playerID, valid)
	if _, err := pipe.Exec(ctx); err != nil {
		return time.Time{}, failed(err)
	}
	if err := s.client.Set(ctx, linkKey(playerID), link, valid).Err(); err != nil {
		return time.Time{}, failed(err)
	}
	return now.Val().UTC().Truncate(time.Millisecond).Add(valid), nil
}

func (s sessions) Open(ctx context.Context, link string, given store.Session, limit int, keep time.Duration) (store.Session, error) {
	playerID, err := s.client.Get(ctx, linkedKey(link)).Result()
	if errors.Is(err, goredis.Nil) {
		return store.Session{}, store.ErrNoLink
	}
	if err != nil {
		return store.Session{}, failed(err)
	}
	reply, err := openSessionScript.Run(ctx, s.client, []string{playerKey(playerID), linkKey(playerID), sessionsKey(playerID)},
		link, given.ID, given.Comment, limit, keep.Milliseconds()).Text()
	switch {
	case err != nil:
		return store.Session{}, failed(err)
	case reply == "none":
		return store.Session{}, store.ErrNoLink
	case reply == "full":
		return store.Session{}, store.ErrTooManySessions
	}
	stored, err := parseSession(playerID, given.ID, reply)
	return stored.Session, err
}

func (s sessions) Sessions(ctx context.Context, playerID string) ([]store.Session, error) {
	all, err := s.all(ctx, playerID)
	return convert.All(all, func(d store.DumpedSession) store.Session { return d.Session }), err
}

// all returns the sessions of an account with their expiry, oldest first.
func (s sessions) all(ctx context.Context, playerID string) (all []store.DumpedSession, err error) {
	pipe := s.client.Pipeline()
	exists, fields, now := pipe.Exists(ctx, playerKey(playerID)), pipe.HGetAll(ctx, sessionsKey(playerID)), pipe.Time(ctx)
	if _, err := pipe.Exec(ctx); err != nil {
		return nil, failed(err)
	}
	if exists.Val() == 0 {
		return nil, nil
	}
	parse := func(id, text string) (store.DumpedSession, error) { return parseSession(playerID, id, text) }
	all, err = parseAll(fields.Val(), parse, func(a, b store.DumpedSession) int {
		return cmp.Or(a.Opened.Compare(b.Opened), cmp.Compare(a.ID, b.ID))
	})
	return slices.DeleteFunc(all, func(d store.DumpedSession) bool {
		return !d.Expires.IsZero() && !d.Expires.After(now.Val())
	}), err
}

// sessionText formats a session as its value in the hash. parseSession is its inverse.
func sessionText(d store.DumpedSession) string {
	return timedText(d.Opened, strconv.FormatInt(store.Milli(d.Expires), 10)+" "+d.Comment)
}

func parseSession(playerID, id, text string) (store.DumpedSession, error) {
	opened, rest, err := parseTimed(text)
	milliseconds, comment, _ := strings.Cut(rest, " ")
	expires, err2 := strconv.ParseInt(milliseconds, 10, 64)
	if err := cmp.Or(err, err2); err != nil {
		return store.DumpedSession{}, store.Failed(store.Corrupt, "the session %s of player %s has no time: %w", id, playerID, err)
	}
	session := store.Session{ID: id, PlayerID: playerID, Comment: comment, Opened: opened}
	return store.DumpedSession{Session: session, Expires: store.FromMilli(expires)}, nil
}

func (s sessions) Renew(ctx context.Context, playerID, id string, keep time.Duration) error {
	return failed(renewSessionScript.Run(ctx, s.client, []string{sessionsKey(playerID)}, id, keep.Milliseconds()).Err())
}

func (s sessions) End(ctx context.Context, playerID, id string) (bool, error) {
	return removeField(ctx, s.client, sessionsKey(playerID), id)
}
