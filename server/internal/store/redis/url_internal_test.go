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
	for value, check := range map[string]func(*testing.T, *goredis.UniversalOptions){
		"redis://localhost": func(t *testing.T, o *goredis.UniversalOptions) {
			assert.Equal(t, []string{"localhost:6379"}, o.Addrs)
			assert.Nil(t, o.TLSConfig)
			assert.IsType(t, &goredis.Client{}, client(t, o))
		},
		"redis://me:p%40ss@host:7000/3?client_name=x&dial_timeout=3s&pool_size=7": func(t *testing.T, o *goredis.UniversalOptions) {
			assert.Equal(t, []string{"host:7000"}, o.Addrs)
			assert.Equal(t, "me", o.Username)
			assert.Equal(t, "p@ss", o.Password)
			assert.Equal(t, 3, o.DB)
			assert.Equal(t, "x", o.ClientName)
			assert.Equal(t, 3*time.Second, o.DialTimeout)
			assert.Equal(t, 7, o.PoolSize)
		},
		"rediss://[::1]:6380": func(t *testing.T, o *goredis.UniversalOptions) {
			assert.Equal(t, []string{"[::1]:6380"}, o.Addrs)
			assert.Equal(t, "::1", o.TLSConfig.ServerName)
			assert.False(t, o.TLSConfig.InsecureSkipVerify)
		},
		"rediss://h?skip_verify=true": func(t *testing.T, o *goredis.UniversalOptions) {
			assert.True(t, o.TLSConfig.InsecureSkipVerify)
		},
		"rediss://:pw@a:1,b:2,rediss://c:3/": func(t *testing.T, o *goredis.UniversalOptions) {
			assert.Equal(t, []string{"a:1", "b:2", "c:3"}, o.Addrs)
			assert.Equal(t, "pw", o.Password)
			assert.Empty(t, o.TLSConfig.ServerName, "each node has its own server name")
			assert.IsType(t, &goredis.ClusterClient{}, client(t, o))
		},
		"redis://one:6379?cluster=true": func(t *testing.T, o *goredis.UniversalOptions) {
			assert.IsType(t, &goredis.ClusterClient{}, client(t, o))
		},
		"redis://a:26379,b/2?master_name=main&sentinel_username=u&sentinel_password=s": func(t *testing.T, o *goredis.UniversalOptions) {
			assert.Equal(t, []string{"a:26379", "b:6379"}, o.Addrs)
			assert.Equal(t, "main", o.MasterName)
			assert.Equal(t, "u", o.SentinelUsername)
			assert.Equal(t, "s", o.SentinelPassword)
			assert.Equal(t, 2, o.DB)
			assert.IsType(t, &goredis.Client{}, client(t, o))
		},
	} {
		t.Run(value, func(t *testing.T) {
			t.Parallel()
			o, err := parseURL(value)
			require.NoError(t, err)
			check(t, o)
		})
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
		"redis://:opensesame@h?db=1", "redis://:opensesame@h?pool_size=many", "redis://:opensesame@h?skip_verify=1",
		"redis://:opensesame@h/-1", "redis://:opensesame@a,rediss://b", "redis://:opensesame@a,b/1", "redis://:opensesame@a,,b",
		"redis://:opensesame@h?%zz",
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
