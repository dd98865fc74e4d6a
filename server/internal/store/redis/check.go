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

// oldestRedis is the first major version that supports all commands in use.
const oldestRedis = 7

// checkWithin limits the time that check takes.
const checkWithin = 3 * time.Second

// check returns an error if any master runs a version of Redis that is too old. It logs a
// warning for settings that let Redis lose acknowledged writes.
func (c Clients) check(ctx context.Context, wait time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	node := func(ctx context.Context, client *goredis.Client) error {
		logger := c.Logger.With("redis", client.Options().Addr)
		info := client.InfoMap(ctx)
		if err := info.Err(); err != nil {
			logger.Warn("cannot read the version and settings of redis", "id", "redis-info", "error", err)
			return nil
		}
		if err := checkVersion(client.Options().Addr, info.Item("Server", "redis_version")); err != nil {
			return err
		}
		checkSettings(ctx, client, info, logger)
		return nil
	}
	return eachMaster(ctx, c.Background, node)
}

// checkVersion returns an error if the version of a Redis server is too old.
func checkVersion(addr, version string) error {
	major, _, _ := strings.Cut(version, ".")
	if n, err := strconv.Atoi(major); err == nil && n < oldestRedis {
		return fmt.Errorf("redis at %s is version %s; it must be %d.0 or newer", addr, version, oldestRedis)
	}
	return nil
}

// durability lists the settings that make Redis keep every acknowledged write.
var durability = []struct {
	setting, wanted string
	// loses describes what may be lost with any other value, and under what condition.
	loses string
}{
	{"appendonly", "yes", "every game, account and score since the last snapshot, if redis stops"},
	{"appendfsync", "always", "the moves of the last seconds, if the redis host fails; their games then count as damaged"},
	{"maxmemory-policy", "noeviction", "games, accounts and scores, if redis runs out of memory"},
}

// checkSettings logs a warning for each setting that differs from durability. Two of them
// are in the reply to INFO. The third requires CONFIG GET; because that command also
// reveals passwords, the server's Redis user need not have permission to call it (see
// SECURITY.md).
func checkSettings(ctx context.Context, client *goredis.Client, info *goredis.InfoCmd, logger *slog.Logger) {
	settings := map[string]string{"maxmemory-policy": info.Item("Memory", "maxmemory_policy"), "appendonly": "no"}
	if info.Item("Persistence", "aof_enabled") == "1" {
		settings["appendonly"] = "yes"
		found, err := client.ConfigGet(ctx, "appendfsync").Result()
		if err != nil {
			logger.Info("cannot read appendfsync from redis; make sure that it is always", "error", err)
		}
		settings["appendfsync"] = found["appendfsync"]
	}
	for _, want := range durability {
		if value := settings[want.setting]; value != "" && value != want.wanted {
			logger.Warn("redis can lose acknowledged writes", "id", "redis-can-lose",
				"setting", want.setting, "value", value, "wanted", want.wanted, "loses", want.loses)
		}
	}
}
