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
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/proto/translate"
)

// ask is a call about a game.
type ask struct {
	player  string
	kind    askKind
	version int32 // 0 for a Resign in whatever version
	seat    int   // to resign
	move    game.Move
	to      int32 // version to undo to, 0 for none named
}

type askKind int

const (
	askMove askKind = iota
	askUndo
	askResign
	askGet
)

func (a ask) String() string {
	switch a.kind {
	case askMove:
		return fmt.Sprintf("move %v at %d", a.move, a.version)
	case askUndo:
		return fmt.Sprintf("undo to %d at %d", a.to, a.version)
	case askResign:
		return fmt.Sprintf("resign seat %d at %d", a.seat, a.version)
	default:
		return "get"
	}
}

// answer is what an ask came to: a message without its times, which no rule
// decides, or a refusal.
type answer struct {
	unknown bool // nobody said what became of it
	said    string
	version int32
}

func (a answer) String() string {
	if a.unknown {
		return "unknown"
	}
	return fmt.Sprintf("%.40q at %d", a.said, a.version)
}

// node is a game at one version, with the history that led there.
type node struct {
	*replay.State
	parent *node
	entry  replay.Entry
	event  answer // what its event says
	game   answer // what GetGame says

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

// at is the game at an earlier version of the same history.
func (n *node) at(version int32) *node {
	for n.Version > version {
		n = n.parent
	}
	return n
}

// respond is what the contract answers to a call, and the game after it: the
// same unless the call took effect.
func (n *node) respond(a ask) (answer, *node) {
	if a.kind == askGet {
		return n.game, n
	}
	own := n.SeatsOf(a.player)
	if len(own) == 0 || a.kind == askResign && !slices.Contains(own, a.seat) {
		return refuse(pb.ReasonNotSeated), n
	}
	entry := a.entry(n, own)
	if a.kind == askResign {
		own = []int{a.seat}
		if n.Seats[a.seat].Resigned {
			return n.latest(entry).event, n
		}
	}
	if a.version > 0 && a.version < n.Version {
		standing, meant := n.at(a.version+1), a.entry(n.at(a.version), own)
		if slices.Contains(own, standing.entry.Seat) && standing.entry.Action == meant.Action {
			return standing.event, n
		}
	}
	switch {
	case n.Status == replay.Finished:
		return refuse(pb.ReasonGameOver), n
	case a.version > 0 && a.version != n.Version:
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

// latest is the last version at which an entry stands.
func (n *node) latest(entry replay.Entry) *node {
	for n.entry != entry {
		n = n.parent
	}
	return n
}

// entry is what an ask of who has the given seats comes down to in a game: at
// the seat that is to move, else the first that has not resigned.
func (a ask) entry(n *node, own []int) replay.Entry {
	if a.kind == askResign {
		return replay.Entry{Seat: a.seat, Action: replay.Resigned{}}
	}
	seat := own[len(own)-1]
	if i := slices.IndexFunc(own, func(i int) bool { return !n.Seats[i].Resigned }); i >= 0 {
		seat = own[i]
	}
	if slices.Contains(own, n.Turn()) {
		seat = n.Turn()
	}
	if a.kind == askMove {
		return replay.Entry{Seat: seat, Action: replay.Moved{Move: a.move}}
	}
	to := a.to
	if to == 0 {
		to = n.UndoTo()
	}
	return replay.Entry{Seat: seat, Action: replay.Undone{To: to}}
}

// apply makes the node that an entry leads to, or finds it again.
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

// along is the game after further events.
func (n *node) along(events []*pb.Event) (*node, error) {
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

// model is the rules and the contract as porcupine takes them, for one game.
func model(start *node) porcupine.Model {
	return porcupine.Model{
		Init: func() any { return start },
		Step: func(state, input, output any) (bool, any) {
			n, a, got := state.(*node), input.(ask), output.(answer)
			want, next := n.respond(a)
			return got.unknown || got == want, next
		},
		DescribeOperation: func(input, output any) string { return fmt.Sprintf("%v: %v", input, output) },
		DescribeState:     func(state any) string { return strconv.Itoa(int(state.(*node).Version)) },
	}
}

// history is what many clients asked about one game, and were answered.
type history struct {
	began time.Time
	mu    sync.Mutex
	all   []porcupine.Operation
}

// ask makes a call until somebody answers it or ctx ends: then it is not known
// what became of it, and may come at any time after. It returns the message, if
// the answer was one.
func (h *history) ask(ctx context.Context, who int, a ask, call func(context.Context) (proto.Message, error)) (proto.Message, error) {
	op := porcupine.Operation{ClientId: who, Input: a, Call: int64(time.Since(h.began))}
	var message proto.Message
	err := retry(ctx, func(ctx context.Context) (err error) {
		message, err = call(ctx)
		return err
	})
	op.Return = int64(time.Since(h.began))
	r := refusalOf(err)
	switch {
	case err != nil && ctx.Err() != nil, r.code == codes.Canceled, r.code == codes.DeadlineExceeded:
		if a.kind == askGet {
			return nil, nil // It says nothing, and changed nothing.
		}
		op.Output, op.Return = answer{unknown: true}, math.MaxInt64
		message, err = nil, nil
	case err == nil:
		switch m := message.(type) {
		case *pb.Event:
			op.Output = sayEvent(m)
		case *pb.Game:
			op.Output = sayGame(m)
		}
	case r.reason != "":
		version, _ := strconv.Atoi(r.metadata["version"])
		op.Output, message, err = answer{said: r.reason, version: int32(version)}, nil, nil
	default:
		return nil, checkError(err)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.all = append(h.all, op)
	return message, err
}

// unknown is of how many asks it is not known what became of them.
func (h *history) unknown() (n int) {
	for _, op := range h.all {
		if a, ok := op.Output.(answer); ok && a.unknown {
			n++
		}
	}
	return n
}
