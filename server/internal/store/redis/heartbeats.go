package redis

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	goredis "github.com/redis/go-redis/v9"

	"github.com/gridstand/gridstand/server/internal/store"
)

var heartbeatScript = newScript("heartbeat.lua")

// The braces put the keys into one cluster slot.
const (
	serversKey = "heartbeats:{beat}"
	outagesKey = "outages:{beat}"
)

type heartbeats struct{ client goredis.UniversalClient }

func (h heartbeats) Record(ctx context.Context, b store.Heartbeat) (store.HeartbeatResult, error) {
	args := []any{
		b.ServerID, store.Milli(b.Acknowledged), b.OutageAfter.Milliseconds(), b.Joins.Milliseconds(),
		b.Keep.Milliseconds(), b.MaxServers, b.Leaves,
	}
	reply, err := heartbeatScript.Run(ctx, h.client, []string{serversKey, outagesKey}, args...).StringSlice()
	var result store.HeartbeatResult
	if err == nil {
		result, err = parseHeartbeat(reply)
	}
	return result, failed(err)
}

// parseHeartbeat reads the reply of heartbeat.lua.
func parseHeartbeat(reply []string) (b store.HeartbeatResult, err error) {
	if len(reply) != 6 {
		return b, fmt.Errorf("heartbeat.lua returned %d values", len(reply))
	}
	number := func(i int) int64 {
		n, problem := strconv.ParseInt(reply[i], 10, 64)
		err = errors.Join(err, problem)
		return n
	}
	b.Now, b.Outage = store.FromMilli(number(0)), store.Span{From: store.FromMilli(number(1)), To: store.FromMilli(number(2))}
	b.At, b.RolledBack, b.Run = store.FromMilli(number(3)), number(4) == 1, reply[5]
	return b, err
}

func (h heartbeats) Servers(ctx context.Context) (store.ServersNow, error) {
	now, err := h.client.Time(ctx).Result()
	if err != nil {
		return store.ServersNow{}, failed(err)
	}
	result := store.ServersNow{Now: now, Servers: map[string]store.ServerHeartbeat{}}
	stored, err := h.client.HGetAll(ctx, serversKey).Result()
	for id, value := range stored {
		s, problem := parseServer(value)
		err = errors.Join(err, problem)
		result.Servers[id] = s
	}
	return result, failed(err)
}

// serverText formats a server as heartbeat.lua stores it.
func serverText(s store.ServerHeartbeat) string {
	at := strconv.FormatInt(s.At.UnixMilli(), 10)
	if s.Left {
		return at + " " + at + " left"
	}
	return at + " " + at
}

// parseServer parses a server as stored by heartbeat.lua.
func parseServer(value string) (s store.ServerHeartbeat, err error) {
	words := strings.Fields(value)
	if len(words) < 2 {
		return s, fmt.Errorf("not a heartbeat: %q", value)
	}
	s.At, err = parseTime(words[1])
	s.Left = len(words) > 2 && words[2] == "left"
	return s, err
}
