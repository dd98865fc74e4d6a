package streams

import (
	"net"
	"testing"

	"github.com/stretchr/testify/require"

	redistest "github.com/gridstand/gridstand/internal/testkit/redis"
	"github.com/gridstand/gridstand/internal/testkit/testmain"
	waittest "github.com/gridstand/gridstand/internal/testkit/wait"
)

func TestMain(m *testing.M) { testmain.Run(m, redistest.StillDialing) }

const patience = waittest.Patience

func dial(t testing.TB, address net.Addr) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", address.String())
	require.NoError(t, err)
	return conn
}
