package tui

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	tea "charm.land/bubbletea/v2"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/gridstand/gridstand/client"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

const (
	// pastLimit bounds the versions that a screen remembers while it is live, and
	// pausedLimit while the user looks back: for an hour of a quick game.
	pastLimit   = 4000
	pausedLimit = 10 * pastLimit
	// pastChunk is how many earlier versions are fetched at once.
	pastChunk = 250
)

// frame is a game at one version that was seen.
type frame struct {
	version  int32
	position *pb.Position
	time     *timestamppb.Timestamp
	marks    marks
	gained   int32
	jump     *jump
}

// past is what a screen remembers of the game that it shows, and where in it
// the user looks.
type past struct {
	// frames by rising version.
	frames []frame
	// at is the version looked at, 0 for the newest: live.
	at int32
	// loading is set while earlier versions are fetched; wanted says that the
	// user waits for them.
	loading, wanted bool
}

// pastMsg brings versions before those that were known.
type pastMsg struct {
	gameID string
	frames []frame
	err    error
}

func (m pastMsg) about() string { return m.gameID }

// frameOf is the match as it is now.
func frameOf(m *match) frame {
	return frame{
		version: m.game.GetVersion(), position: m.game.GetPosition(), time: m.game.GetUpdateTime(),
		marks: m.marks, gained: m.gained, jump: m.jump,
	}
}

// remember keeps the newest version. While the user looks back it drops others
// later: it may be those that are looked at.
func (p *past) remember(m *match) {
	limit := pastLimit
	if p.at != 0 {
		limit = pausedLimit
	}
	p.frames = append(p.frames, frameOf(m))
	p.frames = p.frames[max(len(p.frames)-limit, 0):]
}

// index is the place of a version among the frames, or of the last before it.
func (p *past) index(version int32) int {
	i, found := slices.BinarySearchFunc(p.frames, version, func(f frame, v int32) int { return int(f.version - v) })
	if !found {
		i--
	}
	return max(i, 0)
}

// step goes so many versions forward, or back, from where the user looks. At
// the newest one the picture is live again.
func (w *Watch) step(n int) tea.Cmd {
	if len(w.past.frames) == 0 {
		return nil
	}
	newest := len(w.past.frames) - 1
	i := newest
	if w.past.at > 0 {
		i = w.past.index(w.past.at)
	}
	switch i += n; {
	case i > newest || i == newest && n > 0:
		return w.live()
	case i < 0:
		w.past.at = w.past.frames[0].version
		if w.past.at > 1 && !w.past.loading {
			w.past.wanted = true
			return w.load()
		}
		return nil
	default:
		w.past.at = w.past.frames[i].version
		return nil
	}
}

// pause holds the picture at what it shows, or lets it go on.
func (w *Watch) pause() tea.Cmd {
	if w.past.at > 0 {
		return w.live()
	}
	if len(w.past.frames) > 0 {
		w.past.at = w.past.frames[len(w.past.frames)-1].version
	}
	return nil
}

// live goes back to the newest version.
func (w *Watch) live() tea.Cmd {
	w.past.at = 0
	if w.tv != nil && w.over() {
		return w.findAfter(resultTime)
	}
	return nil
}

// load fetches versions before the first that is known.
func (w *Watch) load() tea.Cmd {
	w.past.loading = true
	first, id := w.past.frames[0].version, w.gameID
	return w.tasks.do(func(ctx context.Context) tea.Msg {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		after := max(first-1-pastChunk, 0)
		stream := w.server.Watch(ctx, id, &after)
		m := match{marks: noMarks}
		var frames []frame
		for {
			u, err := stream.Next()
			switch {
			case errors.Is(err, io.EOF):
				return pastMsg{gameID: id, frames: frames}
			case err != nil:
				return pastMsg{gameID: id, err: err}
			case u.Connection.State == client.Reconnecting && u.Connection.Err != nil:
				return pastMsg{gameID: id, err: u.Connection.Err}
			case u.Game != nil:
				m.replace(u.Game)
			case u.Event != nil:
				m.apply(u.Event)
			default:
				continue
			}
			if m.game.GetVersion() >= first {
				return pastMsg{gameID: id, frames: frames}
			}
			frames = append(frames, frameOf(&m))
		}
	})
}

// loaded takes in earlier versions.
func (w *Watch) loaded(msg pastMsg) tea.Cmd {
	w.past.loading = false
	wanted := w.past.wanted
	w.past.wanted = false
	if msg.err != nil {
		w.problem = plainly(msg.err, sameKey)
		return nil
	}
	w.past.frames = append(msg.frames, w.past.frames...)
	if wanted && w.past.at > 0 && len(msg.frames) > 0 {
		return w.step(-1)
	}
	return nil
}

// shown is the match as the user looks at it.
func (w *Watch) shown() match {
	if w.past.at == 0 || len(w.past.frames) == 0 {
		return w.match
	}
	f := w.past.frames[w.past.index(w.past.at)]
	m := w.match
	m.game.Game = proto.CloneOf(w.game.Game)
	m.game.Version, m.game.Position, m.game.UpdateTime = f.version, f.position, f.time
	m.game.Status, m.game.Result = pb.GameStatus_GAME_STATUS_ACTIVE, nil
	m.marks, m.gained, m.jump = f.marks, f.gained, f.jump
	m.log = slices.DeleteFunc(slices.Clone(w.log), func(l logged) bool { return l.version > f.version })
	return m
}

// pastState says where the user looks, empty while the picture is live.
func (w *Watch) pastState() string {
	if w.past.at == 0 || len(w.past.frames) == 0 {
		return ""
	}
	text := fmt.Sprintf("Paused at version %s of %s.", comma(w.past.at), comma(w.past.frames[len(w.past.frames)-1].version))
	if w.past.loading {
		text = "Loading earlier moves …"
	}
	return w.theme.warn().Render(text) + w.theme.dim().Render("  ← → step, l live")
}
