package redis

import (
	"context"
	"strconv"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/gridstand/gridstand/server/internal/store"
)

// challenges implements store.Challenges with these keys, each in its own cluster slot.
// The braces are literal.
//
//	challenge:{<id>}    hash: revision, kind, listed, created, expires, encoded
//	challenges:<kind>   sorted set of listed IDs by the time of creation
//
// The kind "*" stands for all kinds. A challenge is added to the lists before it is stored, so
// that none is missing there. One that expired, or was never stored, stays in the lists until list
// finds and removes it.
type challenges struct{ client goredis.UniversalClient }

func challengeKey(id string) string { return "challenge:{" + id + "}" }

// challengesKey is the key of the list for one kind, or of all kinds if kind is 0.
func challengesKey(kind uint8) string {
	if kind == 0 {
		return "challenges:*"
	}
	return "challenges:" + strconv.Itoa(int(kind))
}

var challengeFields = []string{"revision", "kind", "listed", "created", "expires", "encoded"}

// challengeValues returns the fields of a challenge's hash with their values and the given revision.
func challengeValues(c store.Challenge, revision int64) []any {
	return []any{
		"revision", revision, "kind", int(c.Kind), "listed", c.Listed, "created", c.Created.UnixMilli(),
		"expires", c.Expires.UnixMilli(), "encoded", c.Encoded,
	}
}

// parseChallenge reads the values of challengeFields.
func parseChallenge(id string, values []any) (c store.Challenge, ok bool, err error) {
	if stringAt(values, 0) == "" {
		return store.Challenge{}, false, nil
	}
	var numbers [5]int64
	for i := range numbers {
		if numbers[i], err = strconv.ParseInt(stringAt(values, i), 10, 64); err != nil {
			return store.Challenge{}, false, store.Failed(store.Corrupt, "the challenge %s has no %s: %w", id, challengeFields[i], err)
		}
	}
	return store.Challenge{
		ID: id, Revision: numbers[0], Kind: uint8(numbers[1]), Listed: numbers[2] == 1,
		Created: time.UnixMilli(numbers[3]).UTC(), Expires: time.UnixMilli(numbers[4]).UTC(), Encoded: []byte(stringAt(values, 5)),
	}, true, nil
}

// storedWithin is how long after its creation a listed challenge may still be missing because it is
// not stored yet. No call takes that long.
const storedWithin = time.Minute

// list adds a new challenge to the lists. It also removes the oldest challenges of those
// lists if they do not exist, so that the lists do not keep growing.
func (s challenges) list(ctx context.Context, c store.Challenge) error {
	keys, pipe := []string{challengesKey(0), challengesKey(c.Kind)}, s.client.Pipeline()
	queueListed(ctx, pipe, c)
	oldest, old := make([]*goredis.StringSliceCmd, len(keys)), milliText(c.Created.Add(-storedWithin))
	for i, key := range keys {
		oldest[i] = pipe.ZRangeByScore(ctx, key, &goredis.ZRangeBy{Min: "-inf", Max: old, Count: 2})
	}
	if _, err := pipe.Exec(ctx); err != nil {
		return failed(err)
	}
	for i, key := range keys {
		for _, id := range oldest[i].Val() {
			n, err := s.client.Exists(ctx, challengeKey(id)).Result()
			if err == nil && n == 0 {
				err = s.client.ZRem(ctx, key, id).Err()
			}
			if err != nil {
				return failed(err)
			}
		}
	}
	return nil
}

// queueListed queues the commands that add a challenge to the lists.
func queueListed(ctx context.Context, pipe goredis.Pipeliner, c store.Challenge) {
	for _, kind := range []uint8{0, c.Kind} {
		pipe.ZAddNX(ctx, challengesKey(kind), goredis.Z{Score: float64(c.Created.UnixMilli()), Member: c.ID})
	}
}

func (s challenges) Get(ctx context.Context, ids ...string) (map[string]store.Challenge, time.Time, error) {
	pipe, replies := s.client.Pipeline(), make([]*goredis.SliceCmd, len(ids))
	for i, id := range ids {
		replies[i] = pipe.HMGet(ctx, challengeKey(id), challengeFields...)
	}
	now := pipe.Time(ctx)
	if _, err := pipe.Exec(ctx); err != nil {
		return nil, time.Time{}, failed(err)
	}
	found, err := store.ByID(ids, func(i int) (store.Challenge, bool, error) { return parseChallenge(ids[i], replies[i].Val()) })
	return found, now.Val().UTC(), err
}

func (s challenges) Update(ctx context.Context, c store.Challenge) error {
	field := "revision"
	if c.Revision == 0 {
		field = "" // The hash must not exist.
	}
	if c.Revision == 0 && c.Listed {
		if err := s.list(ctx, c); err != nil {
			return err
		}
	}
	written, err := setFields(ctx, s.client, challengeKey(c.ID), field, c.Revision, c.Expires, challengeValues(c, c.Revision+1)...)
	if err == nil && written != 1 {
		err = store.ErrMoved
	}
	return err
}

func (s challenges) List(ctx context.Context, kind uint8, after store.Place, n int) ([]store.Place, error) {
	return pageOf(ctx, s.client, challengesKey(kind), after, n)
}
