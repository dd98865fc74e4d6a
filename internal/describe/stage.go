package describe

import (
	"time"

	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// ChallengeStage describes whether a challenge is waiting, open or closed at the given server
// time: "open, closes in 5 h".
func ChallengeStage(c *pb.Challenge, now time.Time) string {
	switch c.GetStatus() {
	case pb.ChallengeStatus_CHALLENGE_STATUS_WAITING:
		return "waiting for players"
	case pb.ChallengeStatus_CHALLENGE_STATUS_SCHEDULED:
		return "starts in " + Until(c.GetOpenTime().AsTime().Sub(now))
	case pb.ChallengeStatus_CHALLENGE_STATUS_OPEN:
		return "open, closes in " + Until(c.GetCloseTime().AsTime().Sub(now))
	case pb.ChallengeStatus_CHALLENGE_STATUS_CLOSED:
		return "closed " + Ago(now.Sub(c.GetCloseTime().AsTime()))
	default:
		return "?"
	}
}
