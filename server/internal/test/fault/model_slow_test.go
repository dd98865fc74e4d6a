//go:build slow

package fault

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/anishathalye/porcupine"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/proto"

	"github.com/gridstand/gridstand/game"
	"github.com/gridstand/gridstand/game/replay"
	playertest "github.com/gridstand/gridstand/internal/testkit/player"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/proto/translate"
)

// operation is a call on one game.
type operation struct {
	player  string
	kind    operationKind
	version int32 // for a Resign, 0 means any version
	seat    int   // seat to resign
	move    game.Move
	to      int32 // version to undo to, or 0 if the call specifies none
}

type operationKind int

const (
	opMove operationKind = iota
	opUndo
	opResign
	opGet
)

func (op operation) String() string {
	switch op.kind {
	case opMove:
		return fmt.Sprintf("move %v at %d", op.move, op.version)
	case opUndo:
		return fmt.Sprintf("undo to %d at %d", op.to, op.version)
	case opResign:
		return fmt.Sprintf("resign seat %d at %d", op.seat, op.version)
	default:
		return "get"
	}
}

// answer is the result of an operation: a refusal, or a message without times, because the rules
// do not determine those.
type answer struct {
	unknown bool // set if the outcome is unknown
	said    string
	version int32
}

func (a answer) String() string {
	if a.unknown {
		return "unknown"
	}
	return fmt.Sprintf("%.40q at %d", a.said, a.version)
}

// node is a game at one version, along with the path of entries that led to it.
type node struct {
	*replay.State
	parent *node
	entry  replay.Entry
	event  answer // content of its event
	game   answer // response from GetGame

	mu       sync.Mutex
	children map[replay.Entry]*node
}

func newNode(parent *node, e *replay.Event) *node {
	return &node{
		State: e.State, parent: parent, entry: e.Entry, children: map[replay.Entry]*node{},
		event: sayEvent(translate.Event(e)), game: sayGame(translate.Game(e.State, 0)),
	}
}

func sayEvent(e *pb.Event) answer {
	e = proto.CloneOf(e)
	e.Time = nil
	return say(e, e.GetVersion())
}

func sayGame(g *pb.Game) answer {
	g = proto.CloneOf(g)
	g.CreateTime, g.UpdateTime, g.Watchers = nil, nil, 0
	return say(g, g.GetVersion())
}

func say(m proto.Message, version int32) answer {
	bytes, err := proto.MarshalOptions{Deterministic: true}.Marshal(m)
	if err != nil {
		panic(err)
	}
	return answer{said: string(bytes), version: version}
}

func refuse(reason string) answer { return answer{said: reason} }

// at returns the game at an earlier version of the same path.
func (n *node) at(version int32) *node {
	for n.Version > version {
		n = n.parent
	}
	return n
}

// respond returns the answer that the contract requires, and the game after the call: the same
// node if the call has no effect.
func (n *node) respond(op operation) (answer, *node) {
	if op.kind == opGet {
		return n.game, n
	}
	own := n.SeatsOf(op.player)
	if len(own) == 0 || op.kind == opResign && !slices.Contains(own, op.seat) {
		return refuse(pb.ReasonNotSeated), n
	}
	entry := op.entry(n, own)
	if op.kind == opResign {
		own = []int{op.seat}
		if n.Seats[op.seat].Resigned {
			return n.latest(entry).event, n
		}
	}
	if op.version > 0 && op.version < n.Version {
		standing, meant := n.at(op.version+1), op.entry(n.at(op.version), own)
		if slices.Contains(own, standing.entry.Seat) && standing.entry.Action == meant.Action {
			return standing.event, n
		}
	}
	switch {
	case n.Status == replay.Finished:
		return refuse(pb.ReasonGameOver), n
	case op.version > 0 && op.version != n.Version:
		return answer{said: pb.ReasonVersionConflict, version: n.Version}, n
	}
	next, err := n.apply(entry)
	switch {
	case err == nil:
		return next.event, next
	case errors.Is(err, replay.ErrNotYourTurn):
		return refuse(pb.ReasonNotYourTurn), n
	case errors.Is(err, replay.ErrNoUndo):
		return refuse(pb.ReasonUndoNotAllowed), n
	case errors.Is(err, game.ErrIllegalMove):
		return refuse(pb.ReasonIllegalMove), n
	default:
		panic(err)
	}
}

// latest returns the most recent node on the path that the given entry led to.
func (n *node) latest(entry replay.Entry) *node {
	for n.entry != entry {
		n = n.parent
	}
	return n
}

// entry returns the log entry for an operation by the player who holds the given seats. The
// entry is for the seat whose turn it is, if that is one of the player's seats, and otherwise
// for the first of them that has not resigned.
func (op operation) entry(n *node, own []int) replay.Entry {
	if op.kind == opResign {
		return replay.Entry{Seat: op.seat, Action: replay.Resigned{}}
	}
	seat := own[len(own)-1]
	if i := slices.IndexFunc(own, func(i int) bool { return !n.Seats[i].Resigned }); i >= 0 {
		seat = own[i]
	}
	if slices.Contains(own, n.Turn()) {
		seat = n.Turn()
	}
	if op.kind == opMove {
		return replay.Entry{Seat: seat, Action: replay.Moved{Move: op.move}}
	}
	to := op.to
	if to == 0 {
		to = n.UndoTo
	}
	return replay.Entry{Seat: seat, Action: replay.Undone{To: to}}
}

// apply returns the node that an entry leads to. It always returns the same node for the same
// entry.
func (n *node) apply(entry replay.Entry) (*node, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if child, ok := n.children[entry]; ok {
		return child, nil
	}
	var event *replay.Event
	var err error
	if undone, ok := entry.Action.(replay.Undone); ok {
		if undone.To == 0 {
			return nil, replay.ErrNoUndo
		}
		event, err = n.Undo(entry, n.at(undone.To).State, n.UpdateTime)
	} else {
		event, err = n.Apply(entry, n.UpdateTime)
	}
	if err != nil {
		return nil, err
	}
	child := newNode(n, event)
	n.children[entry] = child
	return child, nil
}

// applyAll returns the node after the given events.
func (n *node) applyAll(events []*pb.Event) (*node, error) {
	for _, e := range events {
		entry, err := translate.Entry(e)
		if err != nil {
			return nil, err
		}
		if n, err = n.apply(entry); err != nil {
			return nil, err
		}
	}
	return n, nil
}

// model returns the specification of a game for porcupine, which consists of the rules and the
// contract.
func model(start *node) porcupine.Model {
	return porcupine.Model{
		Init: func() any { return start },
		Step: func(state, input, output any) (bool, any) {
			n, op, got := state.(*node), input.(operation), output.(answer)
			want, next := n.respond(op)
			return got.unknown || got == want, next
		},
		DescribeOperation: func(input, output any) string { return fmt.Sprintf("%v: %v", input, output) },
		DescribeState:     func(state any) string { return strconv.Itoa(int(state.(*node).Version)) },
	}
}

// history holds all operations of many clients on one game, with their answers.
type history struct {
	began time.Time
	mu    sync.Mutex
	all   []porcupine.Operation
}

// call makes a call until a server answers or ctx is done. If ctx is done, the outcome is unknown:
// the call may take effect at any later time. It returns the message if the call succeeded.
func (h *history) call(ctx context.Context, who int, op operation, call func(context.Context) (proto.Message, error)) (proto.Message, error) {
	entry := porcupine.Operation{ClientId: who, Input: op, Call: int64(time.Since(h.began))}
	var message proto.Message
	err := playertest.Retry(ctx, func(ctx context.Context) (err error) {
		message, err = call(ctx)
		return err
	}, unavailable)
	entry.Return = int64(time.Since(h.began))
	r := refusalOf(err)
	switch {
	case err != nil && ctx.Err() != nil, r.Code == codes.Canceled, r.Code == codes.DeadlineExceeded:
		if op.kind == opGet {
			return nil, nil // The call failed and had no effect, so the history can omit it.
		}
		entry.Output, entry.Return = answer{unknown: true}, math.MaxInt64
		message, err = nil, nil
	case err == nil:
		switch m := message.(type) {
		case *pb.Event:
			entry.Output = sayEvent(m)
		case *pb.Game:
			entry.Output = sayGame(m)
		}
	case r.Reason != "":
		version, _ := strconv.Atoi(r.Metadata["version"])
		entry.Output, message, err = answer{said: r.Reason, version: int32(version)}, nil, nil
	default:
		return nil, checkError(err)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.all = append(h.all, entry)
	return message, err
}
