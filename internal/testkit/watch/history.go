// Package watchtest checks what watchers of games are shown. A test hands every
// message to a History, which knows what the contract promises: a contiguous
// piece of the game's log, over as many streams and servers as it takes, with a
// game instead of events only if that is allowed. Only tests import it.
package watchtest

import (
	"errors"
	"fmt"
	"io"
	"strconv"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// History is what one watcher was shown of a game. It is for one goroutine.
type History struct {
	request *pb.WatchRequest // of the next stream

	known bool // whether version is a place in the log
	shown bool // whether anything of the game came
	begun bool // whether anything came on this stream
	over  bool
	floor int32 // a version that the log had when this stream was opened

	version int32
	covered int
	events  []*pb.Event
	games   []*pb.Game
}

// Begin returns the History of a watcher that is going to send the request.
func Begin(request *pb.WatchRequest) *History {
	h := &History{request: proto.CloneOf(request)}
	if request.AfterVersion != nil {
		h.known, h.version = true, request.GetAfterVersion()
	}
	return h
}

// Open returns the request for the next stream: the first one, and then one
// that goes on after what was seen. reached is a version that the log is known
// to have by now, on any server; 0 for none.
func (h *History) Open(reached int32) *pb.WatchRequest {
	h.begun, h.floor = false, reached
	request := proto.CloneOf(h.request)
	if h.known {
		request.AfterVersion = proto.Int32(h.version)
	}
	return request
}

// Version is the last one that was shown, or that the watcher began after.
func (h *History) Version() int32 { return h.version }

// Over reports whether the game's last event was shown.
func (h *History) Over() bool { return h.over }

// Covered is how many games took the place of events.
func (h *History) Covered() int { return h.covered }

// Events are the events that were shown, in order.
func (h *History) Events() []*pb.Event { return h.events }

// Take judges a message. The error says which promise it breaks.
func (h *History) Take(message *pb.WatchResponse) error {
	defer func() { h.begun = true }()
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
		return fmt.Errorf("an update of no contract: %v", message)
	}
}

func (h *History) takeGame(g *pb.Game) error {
	over := g.GetStatus() == pb.GameStatus_GAME_STATUS_FINISHED
	switch {
	case g.GetId() != h.request.GetGameId():
		return fmt.Errorf("the game %s, not %s", g.GetId(), h.request.GetGameId())
	case h.over:
		return fmt.Errorf("the game at version %d after its end", g.GetVersion())
	case g.GetVersion() < h.floor:
		return fmt.Errorf("the game at version %d, when version %d was known", g.GetVersion(), h.floor)
	case over != (g.GetResult() != nil), over != (len(g.GetSeed()) > 0):
		return fmt.Errorf("a game that is over and is not: %v", g)
	case !h.known:
	case h.request.GetEveryEvent():
		return fmt.Errorf("a game in the place of version %d", h.version+1)
	case g.GetVersion() <= h.version:
		return fmt.Errorf("the game at version %d after version %d", g.GetVersion(), h.version)
	case h.version < h.floor:
		// A watcher that resumes gets past events as events.
		return fmt.Errorf("the game at version %d in the place of version %d, which was there before the stream", g.GetVersion(), h.version+1)
	default:
		h.covered++
	}
	h.games = append(h.games, g)
	h.known, h.shown, h.version, h.over = true, true, g.GetVersion(), over
	return nil
}

func (h *History) takeEvent(e *pb.Event) error {
	over := e.GetResult() != nil
	switch {
	case e.GetGameId() != h.request.GetGameId():
		return fmt.Errorf("an event of %s, not of %s", e.GetGameId(), h.request.GetGameId())
	case !h.known:
		return fmt.Errorf("version %d before the game", e.GetVersion())
	case h.over:
		return fmt.Errorf("version %d after the last one, %d", e.GetVersion(), h.version)
	case e.GetVersion() != h.version+1:
		return fmt.Errorf("version %d after version %d", e.GetVersion(), h.version)
	case over != (len(e.GetSeed()) > 0):
		return fmt.Errorf("a seed before the end, or none at it: version %d", e.GetVersion())
	}
	if n := len(h.events); n > 0 && e.GetTime().AsTime().Before(h.events[n-1].GetTime().AsTime()) {
		return fmt.Errorf("version %d is older than the one before", e.GetVersion())
	}
	h.events = append(h.events, e)
	h.shown, h.version, h.over = true, e.GetVersion(), over
	return nil
}

// End checks the end of a stream; err is what Recv returned. It reports whether
// the watcher should open another stream; the error is nil then. Otherwise the
// error says which promise the end breaks, or is err if the contract allows it,
// or nil after the game's last event.
func (h *History) End(err error) (again bool, _ error) {
	code := status.Code(err)
	switch {
	case errors.Is(err, io.EOF):
		if h.over || !h.shown && h.known && h.version >= h.floor {
			return false, nil
		}
		return false, fmt.Errorf("the stream ended well after version %d, and the game did not", h.version)
	case code == codes.Unavailable, code == codes.ResourceExhausted:
		return true, nil
	case code == codes.Aborted:
		if at, ok := conflict(err); !ok || at >= h.version || at < h.floor {
			return false, fmt.Errorf("after version %d, with %d known: %w", h.version, h.floor, err)
		}
	}
	return false, err
}

// conflict is the version that a VERSION_CONFLICT tells of.
func conflict(err error) (int32, bool) {
	for _, detail := range status.Convert(err).Details() {
		if info, ok := detail.(*errdetails.ErrorInfo); ok && info.GetReason() == pb.ReasonVersionConflict {
			at, err := strconv.ParseInt(info.GetMetadata()["version"], 10, 32)
			return int32(at), err == nil
		}
	}
	return 0, false
}

// Within holds the history against the whole log, all events from the first on:
// whatever was shown must be what stands there.
func (h *History) Within(log []*pb.Event) error {
	at := func(version int32) (*pb.Event, error) {
		if version < 1 || int(version) > len(log) || log[version-1].GetVersion() != version {
			return nil, fmt.Errorf("version %d was shown, and the log has %d", version, len(log))
		}
		return log[version-1], nil
	}
	for _, e := range h.events {
		stands, err := at(e.GetVersion())
		if err != nil {
			return err
		}
		if !proto.Equal(stands, e) {
			return fmt.Errorf("version %d was shown as\n%v\nand the log has\n%v", e.GetVersion(), e, stands)
		}
	}
	for _, g := range h.games {
		stands, err := at(g.GetVersion())
		if err != nil {
			return err
		}
		if !proto.Equal(stands.GetPosition(), g.GetPosition()) || !proto.Equal(stands.GetTime(), g.GetUpdateTime()) {
			return fmt.Errorf("the game at version %d was shown as\n%v\nand the log has\n%v", g.GetVersion(), g, stands)
		}
	}
	return nil
}
