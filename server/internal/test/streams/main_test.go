package streams

import (
	"net"
	"testing"

	"github.com/stretchr/testify/require"

	delaystest "github.com/gridstand/gridstand/internal/testkit/delays"
	redistest "github.com/gridstand/gridstand/internal/testkit/redis"
	"github.com/gridstand/gridstand/internal/testkit/testmain"
)

func TestMain(m *testing.M) { testmain.Run(m, redistest.StillDialing) }

const patience = delaystest.Patience

func dial(t testing.TB, address net.Addr) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", address.String())
	require.NoError(t, err)
	return conn
}
