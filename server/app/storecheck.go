package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"strings"

	"github.com/redis/go-redis/v9"
)

// oldestRedis is the first major version that has all the commands used.
const oldestRedis = 7

// check looks at each node's version and at the settings that decide whether
// what was acknowledged stays. It returns an error for a version that is too
// old and warns about the rest.
func (s *store) check(ctx context.Context, logger *slog.Logger) error {
	if s.embedded != nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	node := func(ctx context.Context, client *redis.Client) error {
		logger := logger.With("redis", client.Options().Addr)
		if err := checkVersion(ctx, client, logger); err != nil {
			return err
		}
		checkSettings(ctx, client, logger)
		return nil
	}
	switch client := s.reads.(type) {
	case *redis.ClusterClient:
		return client.ForEachMaster(ctx, node)
	case *redis.Client:
		return node(ctx, client)
	}
	return nil
}

func checkVersion(ctx context.Context, client *redis.Client, logger *slog.Logger) error {
	info, err := client.Info(ctx, "server").Result()
	if err != nil {
		logger.Debug("cannot ask redis for its version", "error", err)
		return nil
	}
	return checkInfo(client.Options().Addr, info)
}

// checkInfo checks what the Redis at addr says of itself.
func checkInfo(addr, info string) error {
	for line := range strings.SplitSeq(info, "\n") {
		version, ok := strings.CutPrefix(strings.TrimSpace(line), "redis_version:")
		if !ok {
			continue
		}
		major, _, _ := strings.Cut(version, ".")
		if n, err := strconv.Atoi(major); err == nil && n < oldestRedis {
			return fmt.Errorf("redis at %s is version %s; it must be %d.0 or newer", addr, version, oldestRedis)
		}
	}
	return nil
}

// lacks are the settings that let Redis lose what it acknowledged.
var lacks = []struct {
	setting, wanted string
	// loses is what, and when.
	loses string
}{
	{"appendonly", "yes", "every game, account and score since the last snapshot, when redis ends"},
	{"appendfsync", "always", "the moves of the last seconds, when the machine of redis fails; their games count as damaged then"},
	{"maxmemory-policy", "noeviction", "games, accounts and scores, when the memory of redis is full"},
}

func checkSettings(ctx context.Context, client *redis.Client, logger *slog.Logger) {
	settings := map[string]string{}
	for _, lack := range lacks {
		found, err := client.ConfigGet(ctx, lack.setting).Result()
		if err != nil {
			var answer redis.Error
			if errors.As(err, &answer) {
				logger.Debug("redis does not tell its settings; whether it keeps what it acknowledges is not known", "error", err)
			} else {
				logger.Warn("cannot ask redis for its settings", "error", err)
			}
			return
		}
		settings[lack.setting] = found[lack.setting]
	}
	for _, lack := range lacks {
		if lack.setting == "appendfsync" && settings["appendonly"] != "yes" {
			continue // said already, and worse
		}
		if value := settings[lack.setting]; value != lack.wanted {
			logger.Warn("redis can lose what it acknowledged",
				"setting", lack.setting, "value", value, "wanted", lack.wanted, "loses", lack.loses)
		}
	}
}
