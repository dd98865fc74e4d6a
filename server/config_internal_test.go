package server

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/server/limits"
)

func TestConfig_Validate(t *testing.T) {
	t.Parallel()
	defaults := DefaultConfig()
	require.NoError(t, defaults.validate(), "defaults")

	for _, tt := range []struct {
		flag   string
		change func(*Config)
	}{
		{"tls-cert", func(c *Config) { c.TLSKey = "key.pem" }},
		{"log-format", func(c *Config) { c.LogFormat = "xml" }},
		{"abandon-after", func(c *Config) { c.AbandonAfter = 0 }},
		{"min-turn-limit", func(c *Config) { c.MinTurnLimit = 0 }},
		{"min-turn-limit", func(c *Config) { c.MinTurnLimit = 6 * time.Second }},
		{"bot-pace", func(c *Config) { c.BotPace = -1 }},
		{"keep-finished", func(c *Config) { c.KeepFinished = -time.Hour }},
		{"stall", func(c *Config) { c.Stall = time.Millisecond }},
		{"public-url", func(c *Config) { c.PublicURL = "play.example" }},
		{"public-url", func(c *Config) { c.PublicURL = "https://play.example/" }},
		{"public-url", func(c *Config) { c.PublicURL = "javascript://play.example" }},
		{"public-url", func(c *Config) { c.PublicURL = "http://me@play.example" }},
		{"stop-timeout", func(c *Config) { c.StopTimeout = -1 }},
		{"message_bytes", func(c *Config) { c.Limits[limits.MessageBytes] = -1 }},
		{"max-new-games-per-minute", func(c *Config) { c.Limits[limits.NewGamesPerMinute] = 1 << 32 }},
	} {
		c := DefaultConfig()
		tt.change(&c)
		var e *ConfigError
		if assert.ErrorAs(t, c.validate(), &e, tt.flag) {
			assert.Equal(t, tt.flag, e.Flag)
			assert.NotContains(t, e.Error(), "\n")
		}
	}
}
