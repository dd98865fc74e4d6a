// Package watchtest checks the messages that spectators of games receive. A test passes every
// message to a History, which checks the contract's guarantees: a spectator sees a contiguous part
// of the game's log, across any number of streams and servers, and receives a game in place of
// events only if that is allowed. Only tests import it.
package watchtest

import (
	"errors"
	"fmt"
	"io"

	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	"github.com/gridstand/gridstand/client"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// History is a game's history as one spectator saw it. It is not safe for concurrent use.
type History struct {
	request *pb.WatchRequest // request for the next stream

	known bool // whether version is known
	shown bool // whether a game or an event has arrived
	over  bool
	// attempt is set once a message shows that the game is an attempt at a challenge. The seed of
	// an attempt may stay hidden after its end.
	attempt bool
	floor   int32 // version that the log had reached when this stream was opened

	version int32
	covered int
	last    *pb.Event // nil until an event was shown
}

// Begin returns the History of a spectator who is about to send the request.
func Begin(request *pb.WatchRequest) *History {
	h := &History{request: proto.CloneOf(request)}
	if request.AfterVersion != nil {
		h.known, h.version = true, request.GetAfterVersion()
	}
	return h
}

// Open returns the request for the next stream. Every stream after the first continues after
// the last version seen. reached is a version that the log is known to have reached on all
// servers, or 0.
func (h *History) Open(reached int32) *pb.WatchRequest {
	h.floor = reached
	request := proto.CloneOf(h.request)
	if h.known {
		request.AfterVersion = proto.Int32(h.version)
	}
	return request
}

// Version returns the last version that was shown, or the version after which the spectator
// started.
func (h *History) Version() int32 { return h.version }

// Over reports whether the game's last event was shown.
func (h *History) Over() bool { return h.over }

// Covered returns the number of times that a game replaced events.
func (h *History) Covered() int { return h.covered }

// Take checks a message. Its error describes the violated guarantee.
func (h *History) Take(message *pb.WatchResponse) error {
	switch update := message.GetUpdate().(type) {
	case *pb.WatchResponse_Game:
		return h.takeGame(update.Game)
	case *pb.WatchResponse_Event:
		return h.takeEvent(update.Event)
	case *pb.WatchResponse_Audience:
		switch {
		case update.Audience < 0:
			return fmt.Errorf("an audience of %d", update.Audience)
		case !h.known:
			return errors.New("an audience before the game")
		}
		return nil
	default:
		return fmt.Errorf("an update that is not in the contract: %v", message)
	}
}

func (h *History) takeGame(g *pb.Game) error {
	over := g.GetStatus() == pb.GameStatus_GAME_STATUS_FINISHED
	h.attempt = h.attempt || g.GetChallengeId() != ""
	switch {
	case g.GetId() != h.request.GetGameId():
		return fmt.Errorf("game %s instead of %s", g.GetId(), h.request.GetGameId())
	case h.over:
		return fmt.Errorf("the game at version %d after its end", g.GetVersion())
	case g.GetVersion() < h.floor:
		return fmt.Errorf("the game at version %d, when version %d was known", g.GetVersion(), h.floor)
	case over != (g.GetResult() != nil), h.wrongSeed(over, g.GetSeed()):
		return fmt.Errorf("contradictory fields about the end of the game: %v", g)
	case !h.known:
	case h.request.GetEveryEvent():
		return fmt.Errorf("a game in place of version %d", h.version+1)
	case g.GetVersion() <= h.version:
		return fmt.Errorf("the game at version %d after version %d", g.GetVersion(), h.version)
	case h.version < h.floor:
		// A spectator who resumes must receive past events individually, not a game.
		return fmt.Errorf("the game at version %d in place of version %d, which existed before the stream", g.GetVersion(), h.version+1)
	default:
		h.covered++
	}
	h.known, h.shown, h.version, h.over = true, true, g.GetVersion(), over
	return nil
}

// wrongSeed reports whether the seed was shown too early, or is missing at the end of a game.
func (h *History) wrongSeed(over bool, seed []byte) bool {
	return over != (len(seed) > 0) && !(over && h.attempt)
}

func (h *History) takeEvent(e *pb.Event) error {
	over := e.GetResult() != nil
	h.attempt = h.attempt || e.GetCreated().GetChallengeId() != ""
	switch {
	case e.GetGameId() != h.request.GetGameId():
		return fmt.Errorf("an event of %s instead of %s", e.GetGameId(), h.request.GetGameId())
	case !h.known:
		return fmt.Errorf("version %d before the game", e.GetVersion())
	case h.over:
		return fmt.Errorf("version %d after the last one, %d", e.GetVersion(), h.version)
	case e.GetVersion() != h.version+1:
		return fmt.Errorf("version %d after version %d", e.GetVersion(), h.version)
	case h.wrongSeed(over, e.GetSeed()):
		return fmt.Errorf("a seed before the end, or no seed at the end: version %d", e.GetVersion())
	}
	if e.GetTime().AsTime().Before(h.last.GetTime().AsTime()) {
		return fmt.Errorf("version %d is older than the previous version", e.GetVersion())
	}
	h.last, h.shown, h.version, h.over = e, true, e.GetVersion(), over
	return nil
}

// End checks the end of a stream. err is the error that Recv returned. If the spectator should open
// another stream, End returns true and a nil error. Otherwise the history ends, and the error is
// nil if there are no more events, err if the contract allows err, and otherwise a description of
// the violated guarantee.
func (h *History) End(err error) (again bool, _ error) {
	refused := client.FromError(err)
	switch {
	case errors.Is(err, io.EOF):
		if h.over || !h.shown && h.known && h.version >= h.floor {
			return false, nil
		}
		return false, fmt.Errorf("the stream ended without an error after version %d, but the game is not over", h.version)
	case refused.Code == codes.Unavailable, refused.Code == codes.ResourceExhausted:
		return true, nil
	case refused.Code == codes.Aborted:
		at, ok := client.CurrentVersion(refused)
		if !ok || refused.Reason != pb.ReasonVersionConflict || at >= h.version || at < h.floor {
			return false, fmt.Errorf("after version %d, with %d known: %w", h.version, h.floor, err)
		}
	}
	return false, err
}
