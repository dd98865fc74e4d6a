//go:build slow

package fault

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	servertest "github.com/gridstand/gridstand/internal/testkit/server"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// crowd is the number of spectators who arrive at once.
const crowd = 1000

// Ensure that the server admits all spectators who arrive at once from one address, such as a hall's, each
// with a connection.
func TestCrowd(t *testing.T) {
	t.Parallel()
	manyFiles.Lock()
	defer manyFiles.Unlock()
	env := newUncheckedEnv(t)
	server := env.serveProgram()
	game := env.player(server).start(t, "classic")
	for name, watch := range map[string]func(t *testing.T) error{
		"grpc": func(t *testing.T) error {
			conn := servertest.Dial(t, server.tcp(t))
			stream, err := pb.NewGameServiceClient(conn).Watch(t.Context(), &pb.WatchRequest{GameId: game.GetId()})
			if err != nil {
				return err
			}
			_, err = stream.Recv()
			return err
		},
		"events": func(t *testing.T) error {
			conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", server.addr)
			if err != nil {
				return err
			}
			t.Cleanup(func() { _ = conn.Close() })
			if _, err := io.WriteString(conn, "GET /g/"+game.GetId()+"/events HTTP/1.1\r\nHost: gridstand\r\n\r\n"); err != nil {
				return err
			}
			response, err := http.ReadResponse(bufio.NewReader(conn), nil)
			if err != nil {
				return err
			}
			assert.Equal(t, http.StatusOK, response.StatusCode)
			_, err = response.Body.Read(make([]byte, 1))
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			begin, failed := make(chan struct{}), make(chan error, crowd)
			var group sync.WaitGroup
			for range crowd {
				group.Go(func() {
					<-begin
					if err := watch(t); err != nil {
						failed <- err
					}
				})
			}
			close(begin)
			group.Wait()
			if n := len(failed); n > 0 {
				require.NoError(t, <-failed, "%d of %d spectators failed", n, crowd)
			}
		})
	}
}
