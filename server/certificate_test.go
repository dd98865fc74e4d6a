package server_test

import (
	"crypto/tls"
	"math/big"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/client"
	servertest "github.com/gridstand/gridstand/internal/testkit/server"
	tlstest "github.com/gridstand/gridstand/internal/testkit/tls"
	waittest "github.com/gridstand/gridstand/internal/testkit/wait"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// ask calls GetServerInfo with a new client.
func ask(t *testing.T, c client.Config) error {
	t.Helper()
	_, err := servertest.Client(t, c).Games.GetServerInfo(waittest.Context(t), &pb.GetServerInfoRequest{})
	return err
}

// Ensure that new connections use replaced certificates, that existing connections
// continue, and that invalid files change nothing.
func TestStart_CertificateRenewed(t *testing.T) {
	t.Parallel()
	authority, next := tlstest.NewAuthority(t), tlstest.NewAuthority(t)
	c := servertest.Config(t)
	c.TLSCert, c.TLSKey = authority.Issue(t)
	old := authority.Renew(t, c.TLSCert, c.TLSKey)
	log := &servertest.Log{}
	c.Logger = log.Logger()
	server, _ := servertest.Start(t, c)
	shown := func() *big.Int {
		conn, err := tls.Dial("tcp", server.Addr().String(), &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"h2"}})
		if err != nil {
			return nil
		}
		defer func() { _ = conn.Close() }()
		return conn.ConnectionState().PeerCertificates[0].SerialNumber
	}
	before := servertest.Client(t, client.Config{Target: server.Addr().String(), CAFile: authority.File})
	info := func() error {
		_, err := before.Games.GetServerInfo(waittest.Context(t), &pb.GetServerInfoRequest{})
		return err
	}
	require.NoError(t, info())
	require.Equal(t, old.SerialNumber, shown())

	require.NoError(t, os.WriteFile(c.TLSCert, []byte("nonsense"), 0o600))
	waittest.Until(t, "the server has read the file", func() bool {
		assert.Equal(t, old.SerialNumber, shown(), "the file is not a certificate")
		return strings.Contains(log.String(), "certificate not renewed")
	})

	renewed := next.Renew(t, c.TLSCert, c.TLSKey)
	waittest.Until(t, "the server uses the new certificate", func() bool {
		now := shown()
		return now != nil && renewed.SerialNumber.Cmp(now) == 0
	})
	require.NoError(t, info(), "an existing connection")
	require.NoError(t, ask(t, client.Config{Target: server.Addr().String(), CAFile: next.File}))
	assert.ErrorIs(t, ask(t, client.Config{Target: server.Addr().String(), CAFile: authority.File}), client.ErrUnreachable)
}
