package redis

import (
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestParseURL(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]goredis.UniversalOptions{
		"redis://localhost": {Addrs: []string{"localhost:6379"}},
		"redis://me:p%40ss@127.0.0.1:7000/3?read_timeout=3s": {
			Addrs: []string{"127.0.0.1:7000"}, Username: "me", Password: "p@ss", DB: 3, ReadTimeout: 3 * time.Second,
		},
		"redis://127.0.0.1:26379,127.0.0.2/2?master_name=main&sentinel_username=u&sentinel_password=s": {
			Addrs: []string{"127.0.0.1:26379", "127.0.0.2:6379"}, DB: 2, MasterName: "main", SentinelUsername: "u", SentinelPassword: "s",
		},
	} {
		o, err := parseURL(value)
		require.NoError(t, err)
		assert.Equal(t, want, *o)
		assert.IsType(t, &goredis.Client{}, client(t, o))
	}
	for value, serverName := range map[string]string{"rediss://[::1]:6380": "::1", "rediss://:pw@a:1,b:2,rediss://:pw@c:3/": ""} {
		o, err := parseURL(value)
		require.NoError(t, err)
		assert.Equal(t, serverName, o.TLSConfig.ServerName, "each node of a cluster has its own")
	}
	for _, value := range []string{"rediss://:pw@127.0.0.1:1,127.0.0.2:2,rediss://127.0.0.3:3/", "redis://127.0.0.1:6379?cluster=true"} {
		o, err := parseURL(value)
		require.NoError(t, err)
		assert.IsType(t, &goredis.ClusterClient{}, client(t, o))
	}
}

func client(t *testing.T, o *goredis.UniversalOptions) goredis.UniversalClient {
	c := goredis.NewUniversalClient(o)
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func TestParseURL_Wrong(t *testing.T) {
	t.Parallel()
	for _, value := range []string{
		"", "localhost:6379", "http://localhost", "redis:/localhost", "redis://",
		"redis://:opensesame@h:port", "redis://:opens/esame@h", "redis://:opens%esame@h", "redis://:opensesame@h/0/1",
		"redis://:opensesame@h?db=1", "redis://:opensesame@h?cluster=many", "redis://:opensesame@h?read_timeout=1",
		"redis://:opensesame@h/-1", "redis://:opensesame@a,rediss://b", "redis://:opensesame@a,b/1", "redis://:opensesame@a,,b",
		"redis://:opensesame@h?%zz", "redis://me:1?opensesame@h", "redis://me:1?opens,esame@h", "redis://me:1?opens&esame@h",
		"redis://me:1#opensesame@h", "redis://me:1,opensesame@h", "redis://a,me:1,opensesame@h", "redis://h#",
		"redis://h?read_timeout=-1ns",
	} {
		_, err := parseURL(value)
		if assert.Error(t, err, value) {
			assert.NotContains(t, err.Error(), "opens", "a password was printed")
			assert.NotContains(t, err.Error(), "esame", "a password was printed")
		}
	}
	for _, value := range []string{"redis", "redis:", "redis://", "redis://:6379"} {
		_, err := parseURL(value)
		assert.ErrorContains(t, err, "such as redis://localhost:6379", value)
	}
}
