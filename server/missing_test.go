package server_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/internal/id"
	playertest "github.com/gridstand/gridstand/internal/testkit/player"
	servertest "github.com/gridstand/gridstand/internal/testkit/server"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// Ensure that the page of something that does not exist has the status 404, and that those of
// private games and of challenges whose attempts are hidden do not.
func TestStart_MissingPages(t *testing.T) {
	t.Parallel()
	server, _ := servertest.Start(t, servertest.Config(t))
	ctx := within(t)
	conn := servertest.Dial(t, server.Addr())
	ann := playertest.New(ctx, t, conn, "Ann")
	private := ann.Create(t, &pb.CreateGameRequest{Variant: "classic", Private: true}).GetId()
	challenge, err := pb.NewChallengeServiceClient(conn).GetChallenge(ctx, &pb.GetChallengeRequest{Daily: &pb.DailyRequest{}})
	require.NoError(t, err)
	daily := challenge.GetChallenge().GetId()
	attempt := ann.Create(t, &pb.CreateGameRequest{ChallengeId: daily}).GetId()
	get := getter(t, server.Addr().String())
	for path, want := range map[string]int{
		"/g/" + private: http.StatusOK, "/g/" + attempt: http.StatusOK, "/c/" + daily: http.StatusOK,
		"/p/Ann": http.StatusOK, "/p/ann": http.StatusOK, "/daily": http.StatusOK, "/daily/classic": http.StatusOK,
		"/g/" + daily: http.StatusNotFound, "/c/" + private: http.StatusNotFound,
		"/g/" + id.New(): http.StatusNotFound, "/c/" + id.New(): http.StatusNotFound,
		"/p/Bob": http.StatusNotFound, "/p/%22": http.StatusNotFound, "/daily/nothing": http.StatusNotFound,
	} {
		// On a stalled machine a page may be served before the server has found out that it is missing.
		require.Eventually(t, func() bool {
			response, page := get("", http.MethodGet, path)
			assert.Contains(t, page, "data-page=", path)
			return response.StatusCode == want
		}, patience, time.Millisecond, path)
	}
}
