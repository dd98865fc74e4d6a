package server_test

import (
	"net"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	playertest "github.com/gridstand/gridstand/internal/testkit/player"
	"github.com/gridstand/gridstand/internal/testkit/process"
	redistest "github.com/gridstand/gridstand/internal/testkit/redis"
	servertest "github.com/gridstand/gridstand/internal/testkit/server"
	tlstest "github.com/gridstand/gridstand/internal/testkit/tls"
	waittest "github.com/gridstand/gridstand/internal/testkit/wait"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/server"
)

// Ensure that a URL can select a Redis server that requires a password, TLS and a client
// certificate, and that errors and logs do not contain the password.
func TestStart_RedisTLS(t *testing.T) {
	t.Parallel()
	authority := tlstest.NewAuthority(t)
	cert, key := authority.Issue(t)
	port := process.FreePort(t)
	store := redistest.StartRedis(t, "--tls-port", port, "--tls-auth-clients", "yes",
		"--tls-cert-file", cert, "--tls-key-file", key, "--tls-ca-cert-file", authority.File)
	client := redistest.NewClient(t, store.Addr())
	require.NoError(t, client.ConfigSet(t.Context(), "requirepass", "opensesame").Err())

	ownCert, ownKey := authority.Issue(t)
	url := func(password, parameters string) string {
		return "rediss://:" + password + "@" + net.JoinHostPort("127.0.0.1", port) + "/0?" + parameters
	}
	c, log := servertest.Config(t), &servertest.Log{}
	c.Logger = log.Logger()
	c.Store = url("opensesame", "ca="+authority.File+"&cert="+ownCert+"&key="+ownKey)
	srv, _ := servertest.Start(t, c)
	ann := playertest.New(waittest.Context(t), t, servertest.Dial(t, srv.Addr()), "Ann")
	ann.Move(t, ann.Create(t, &pb.CreateGameRequest{Variant: "classic"}))
	assert.NotContains(t, log.String(), "opensesame")

	for name, tt := range map[string]struct{ redis, want string }{
		"no certificate":    {url("opensesame", "ca="+authority.File), "rediss://127.0.0.1:"},
		"authority unknown": {url("opensesame", "cert="+ownCert+"&key="+ownKey), "certificate signed by unknown authority"},
		"wrong password":    {url("mellon", "ca="+authority.File+"&cert="+ownCert+"&key="+ownKey), "WRONGPASS"},
		"half a pair":       {url("opensesame", "cert="+ownCert), "--store: cert and key must be given together"},
		"files without TLS": {"redis://" + store.Addr() + "?ca=" + authority.File, "--store: ca, cert and key require rediss://"},
		"not an authority":  {url("opensesame", "ca="+ownKey), "--store: parameter ca: no certificate in " + ownKey},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := servertest.Config(t)
			c.Store = tt.redis
			err := server.Run(t.Context(), c)
			require.ErrorContains(t, err, tt.want)
			assert.NotContains(t, err.Error(), "opensesame")
			assert.NotContains(t, err.Error(), "mellon")
		})
	}
}
