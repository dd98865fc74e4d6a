package redis

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/gridstand/gridstand/server/internal/store"
)

var heartbeatScript = newScript("heartbeat.lua")

// The braces put the keys into one cluster slot. Stored keys and fields keep their names, even if
// these are older than the code's.
const (
	serversKey = "heartbeats:{beat}"
	outagesKey = "outages:{beat}"
	// rollbackKey is a hash about the last rollback. heartbeat.lua describes its fields; "swept"
	// is the time of the last rollback that was resolved.
	rollbackKey = "rewound:{beat}"
)

// attestedGamesKey is the set of the games that servers have attested after a rollback. Its
// stored name is "vouched".
func attestedGamesKey(rollback time.Time) string {
	return "vouched:" + strconv.FormatInt(rollback.UnixMilli(), 10) + ":{beat}"
}

// attestedServersKey is the set of the servers that have attested all their games after a
// rollback.
func attestedServersKey(rollback time.Time) string {
	return "attested:" + strconv.FormatInt(rollback.UnixMilli(), 10) + ":{beat}"
}

// leftMark is appended to a server's serverText if the server shut down cleanly.
const leftMark = " left"

// claimKey is the key that exists while a server has claimed the given work.
func claimKey(work string) string { return "claim:" + work + ":{beat}" }

type heartbeats struct{ client goredis.UniversalClient }

func (h heartbeats) Record(ctx context.Context, b store.Heartbeat) (store.HeartbeatResult, error) {
	args := []any{
		b.ServerID, milli(b.Acknowledged), milli(b.Since), b.Lost, b.MissingAfter.Milliseconds(), b.OutageAfter.Milliseconds(),
		b.Keep.Milliseconds(), b.MaxServers, len(b.Appends),
	}
	for _, s := range b.Appends {
		args = append(args, s.From.UnixMilli(), s.To.UnixMilli())
	}
	for id, s := range b.Known {
		args = append(args, id, serverText(s))
	}
	reply, err := heartbeatScript.Run(ctx, h.client, []string{serversKey, outagesKey, rollbackKey}, args...).StringSlice()
	var result store.HeartbeatResult
	if err == nil {
		result, err = parseHeartbeat(reply)
	}
	return result, wrap("sending a heartbeat", err)
}

// parseHeartbeat reads the reply of heartbeat.lua.
func parseHeartbeat(reply []string) (b store.HeartbeatResult, err error) {
	const fixed = 11
	if len(reply) < fixed || len(reply)%2 == 0 {
		return b, fmt.Errorf("heartbeat.lua returned %d values", len(reply))
	}
	number := func(i int) int64 {
		n, problem := strconv.ParseInt(reply[i], 10, 64)
		err = errors.Join(err, problem)
		return n
	}
	b.Now, b.Outage = fromMilli(number(0)), time.Duration(number(1))*time.Millisecond
	b.At, b.Since, b.RolledBack, b.Missing, b.Run = fromMilli(number(2)), fromMilli(number(3)), number(4) == 1, int(number(5)), reply[6]
	b.Rollback = store.Rollback{
		At: fromMilli(number(7)), Copied: fromMilli(number(8)), Before: fromMilli(number(9)),
		Resolved: number(7) != 0 && reply[10] == reply[7],
	}
	b.Servers = make(map[string]store.ServerHeartbeat, (len(reply)-fixed)/2)
	for i := fixed; i < len(reply); i += 2 {
		s, problem := parseServer(reply[i+1])
		err = errors.Join(err, problem)
		b.Servers[reply[i]] = s
	}
	return b, err
}

func (h heartbeats) Leave(ctx context.Context, serverID string, s store.ServerHeartbeat) error {
	return wrap("storing that a server left", h.client.HSet(ctx, serversKey, serverID, serverText(s)+leftMark).Err())
}

func (h heartbeats) Servers(ctx context.Context) (store.ServersNow, error) {
	var (
		now              *goredis.TimeCmd
		stored, rollback *goredis.MapStringStringCmd
		result           store.ServersNow
	)
	// Time is not in the pipeline: on a cluster, a different node might execute it.
	now = h.client.Time(ctx)
	err := now.Err()
	if err == nil {
		_, err = h.client.Pipelined(ctx, func(p goredis.Pipeliner) error {
			stored, rollback = p.HGetAll(ctx, serversKey), p.HGetAll(ctx, rollbackKey)
			return nil
		})
	}
	if err == nil {
		result.Now, result.Servers = now.Val(), map[string]store.ServerHeartbeat{}
		for id, value := range stored.Val() {
			s, problem := parseServer(value)
			err = errors.Join(err, problem)
			result.Servers[id] = s
		}
	}
	if err == nil {
		result.Rollback, err = parseRollback(rollback.Val())
	}
	return result, wrap("reading heartbeats", err)
}

func parseRollback(fields map[string]string) (r store.Rollback, err error) {
	for field, into := range map[string]*time.Time{"at": &r.At, "from": &r.Copied, "before": &r.Before} {
		if text, ok := fields[field]; ok {
			var problem error
			*into, problem = parseMilli(text)
			err = errors.Join(err, problem)
		}
	}
	r.Resolved = !r.At.IsZero() && fields["at"] == fields["swept"]
	return r, err
}

func (h heartbeats) Outages(ctx context.Context, since time.Time) ([]store.Span, error) {
	stored, err := h.client.ZRangeByScore(ctx, outagesKey, &goredis.ZRangeBy{
		Min: strconv.FormatInt(milli(since), 10), Max: "+inf",
	}).Result()
	if err != nil {
		return nil, wrap("reading outages", err)
	}
	recorded := make([]store.Span, len(stored))
	for i, text := range stored {
		from, to, _ := strings.Cut(text, " ")
		if recorded[i].From, err = parseMilli(from); err == nil {
			recorded[i].To, err = parseMilli(to)
		}
		if err != nil {
			return nil, fmt.Errorf("not an outage: %q", text)
		}
	}
	return recorded, nil
}

func (h heartbeats) Resolve(ctx context.Context, rollback time.Time) error {
	return wrap("resolving a rollback", h.client.HSet(ctx, rollbackKey, "swept", rollback.UnixMilli()).Err())
}

func (h heartbeats) AttestGames(ctx context.Context, rollback time.Time, gameIDs []string, keep time.Duration) error {
	if len(gameIDs) == 0 {
		return nil
	}
	return wrap("attesting games", h.remember(ctx, attestedGamesKey(rollback), keep, gameIDs...))
}

func (h heartbeats) AttestServer(ctx context.Context, rollback time.Time, serverID string, keep time.Duration) error {
	return wrap("attesting a server", h.remember(ctx, attestedServersKey(rollback), keep, serverID))
}

// remember adds members to a set, and sets it to expire after the duration keep.
func (h heartbeats) remember(ctx context.Context, key string, keep time.Duration, members ...string) error {
	_, err := h.client.Pipelined(ctx, func(p goredis.Pipeliner) error {
		p.SAdd(ctx, key, members)
		p.PExpire(ctx, key, keep)
		return nil
	})
	return failed(err)
}

func (h heartbeats) AttestedGames(ctx context.Context, rollback time.Time, gameIDs []string) (map[string]bool, error) {
	attested, err := among(ctx, h.client, attestedGamesKey(rollback), gameIDs)
	return attested, wrap("reading attested games", err)
}

// among returns those of the given values that are members of a set.
func among(ctx context.Context, client goredis.UniversalClient, key string, values []string) (map[string]bool, error) {
	if len(values) == 0 {
		return nil, nil
	}
	are, err := client.SMIsMember(ctx, key, values).Result()
	members := map[string]bool{}
	for i, is := range are {
		if is {
			members[values[i]] = true
		}
	}
	return members, err
}

func (h heartbeats) AttestedServers(ctx context.Context, rollback time.Time) (map[string]bool, error) {
	members, err := h.client.SMembers(ctx, attestedServersKey(rollback)).Result()
	if err != nil {
		return nil, wrap("reading attested servers", err)
	}
	attested := make(map[string]bool, len(members))
	for _, id := range members {
		attested[id] = true
	}
	return attested, nil
}

func (h heartbeats) Claim(ctx context.Context, work string, d time.Duration) (bool, error) {
	err := h.client.SetArgs(ctx, claimKey(work), "1", goredis.SetArgs{Mode: "NX", TTL: d}).Err()
	if errors.Is(err, goredis.Nil) {
		return false, nil
	}
	return true, wrap("claiming work", err)
}

// serverText formats a server as heartbeat.lua stores it, without the mark.
func serverText(s store.ServerHeartbeat) string {
	return fmt.Sprintf("%d %d", s.At.UnixMilli(), s.Since.UnixMilli())
}

// parseServer parses a server as stored by heartbeat.lua.
func parseServer(value string) (s store.ServerHeartbeat, err error) {
	words := strings.Fields(value)
	if len(words) < 2 {
		return s, fmt.Errorf("not a heartbeat: %q", value)
	}
	if s.At, err = parseMilli(words[0]); err == nil {
		s.Since, err = parseMilli(words[1])
	}
	s.Left = len(words) > 2 && words[2] == "left"
	return s, err
}

// milli returns a time in Unix milliseconds, or 0 for the zero time.
func milli(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

// fromMilli converts Unix milliseconds to a time, and 0 to the zero time.
func fromMilli(ms int64) time.Time {
	if ms == 0 {
		return time.Time{}
	}
	return time.UnixMilli(ms)
}

// parseMilli is like fromMilli, but takes the number as a string.
func parseMilli(text string) (time.Time, error) {
	ms, err := strconv.ParseInt(text, 10, 64)
	return fromMilli(ms), err
}
