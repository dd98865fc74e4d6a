package redis

import (
	"context"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"time"

	goredis "github.com/redis/go-redis/v9"
)

// oldestRedis is the first major version that has all the commands used.
const oldestRedis = 7

// check returns an error if a node's version is too old. It logs a warning for
// settings under which Redis may lose acknowledged writes.
func (c Clients) check(ctx context.Context, wait time.Duration, logger *slog.Logger) error {
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	node := func(ctx context.Context, client *goredis.Client) error {
		logger := logger.With("redis", client.Options().Addr)
		text, err := client.Info(ctx).Result()
		if err != nil {
			logger.Warn("cannot ask redis what it is", "id", "redis-info", "error", err)
			return nil
		}
		info := parseInfo(text)
		if err := checkVersion(client.Options().Addr, info); err != nil {
			return err
		}
		checkSettings(ctx, client, info, logger)
		return nil
	}
	switch client := c.Calls.(type) {
	case *goredis.ClusterClient:
		return client.ForEachMaster(ctx, node)
	case *goredis.Client:
		return node(ctx, client)
	}
	return nil
}

// parseInfo reads the reply to INFO.
func parseInfo(text string) map[string]string {
	info := map[string]string{}
	for line := range strings.SplitSeq(text, "\n") {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), ":"); ok {
			info[name] = value
		}
	}
	return info
}

// checkVersion returns an error for a Redis that is too old.
func checkVersion(addr string, info map[string]string) error {
	version := info["redis_version"]
	major, _, _ := strings.Cut(version, ".")
	if n, err := strconv.Atoi(major); err == nil && n < oldestRedis {
		return fmt.Errorf("redis at %s is version %s; it must be %d.0 or newer", addr, version, oldestRedis)
	}
	return nil
}

// durability is the settings with which Redis keeps every acknowledged write.
var durability = []struct {
	setting, wanted string
	// loses says what is lost with another value, and when.
	loses string
}{
	{"appendonly", "yes", "every game, account and score since the last snapshot, when redis ends"},
	{"appendfsync", "always", "the moves of the last seconds, when the machine of redis fails; their games count as damaged then"},
	{"maxmemory-policy", "noeviction", "games, accounts and scores, when the memory of redis is full"},
}

// checkSettings logs a warning for each setting of durability that differs. Two are
// in INFO. The third needs CONFIG GET, which also reveals passwords, so the
// servers' user need not be allowed to call it (see SECURITY.md).
func checkSettings(ctx context.Context, client *goredis.Client, info map[string]string, logger *slog.Logger) {
	settings := map[string]string{"maxmemory-policy": info["maxmemory_policy"], "appendonly": "no"}
	if info["aof_enabled"] == "1" {
		settings["appendonly"] = "yes"
		found, err := client.ConfigGet(ctx, "appendfsync").Result()
		if err != nil {
			logger.Info("redis does not tell its appendfsync; see to it that it is always", "error", err)
		}
		settings["appendfsync"] = found["appendfsync"]
	}
	for _, want := range durability {
		if value := settings[want.setting]; value != "" && value != want.wanted {
			logger.Warn("redis can lose what it acknowledged", "id", "redis-can-lose",
				"setting", want.setting, "value", value, "wanted", want.wanted, "loses", want.loses)
		}
	}
}
