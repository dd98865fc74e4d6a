package verify_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gridstand/gridstand/game"
	"github.com/gridstand/gridstand/game/replay"
	"github.com/gridstand/gridstand/game/tribolo"
	"github.com/gridstand/gridstand/game/twenty48"
	"github.com/gridstand/gridstand/game/variants"
)

// TestVectors recomputes the test vectors of docs/verify.md, which other authors use to write
// verifiers.
func TestVectors(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/verify.md")
	require.NoError(t, err)
	blocks := regexp.MustCompile("(?ms)^```vectors\n(.*?)^```").FindAllSubmatch(page, -1)
	require.Len(t, blocks, 6, "blocks of vectors on the page")

	v := vectors{t: t}
	for _, block := range blocks {
		stands := string(block[1])
		computed := v.recompute(strings.Split(strings.TrimSuffix(stands, "\n"), "\n"))
		assert.Equal(t, stands, computed, "computed:\n%s", computed)
	}
}

// vectors recomputes the lines of the test vectors.
type vectors struct {
	t    *testing.T
	seed game.Seed
}

var (
	lineSeed  = regexp.MustCompile(`^seed = ([0-9a-f]+)$`)
	lineBlock = regexp.MustCompile(`^block\((\d+), (\d+)\)`)
	lineDraws = regexp.MustCompile(`^version (\d+): draw`)
	oneDraw   = regexp.MustCompile(`draw\((\d+)\)`)
	lineSlide = regexp.MustCompile(`^\[([0-9 ]+)\] (left|right)`)
	lineStart = regexp.MustCompile(`^start of (\w+):`)
	lineGame  = regexp.MustCompile(`^(start|game) of (\w+)$`)
)

func (v *vectors) recompute(lines []string) string {
	var b strings.Builder
	for i, line := range lines {
		if m := lineGame.FindStringSubmatch(line); m != nil {
			return b.String() + line + "\n" + v.game(m[1], m[2], lines[i+1:])
		}
		b.WriteString(v.line(line) + "\n")
	}
	return b.String()
}

func (v *vectors) line(line string) string {
	switch {
	case lineSeed.MatchString(line):
		raw, err := hex.DecodeString(lineSeed.FindStringSubmatch(line)[1])
		require.NoError(v.t, err)
		v.seed, err = game.SeedFromBytes(raw)
		require.NoError(v.t, err)
		return line
	case strings.HasPrefix(line, "SHA-256(seed)"):
		return fmt.Sprintf("SHA-256(seed) = %x", v.seed.Commitment())
	case lineBlock.MatchString(line):
		m := lineBlock.FindStringSubmatch(line)
		return fmt.Sprintf("block(%s, %s) = %x", m[1], m[2], v.block(v.number(m[1]), v.number(m[2])))
	case lineDraws.MatchString(line):
		version := lineDraws.FindStringSubmatch(line)[1]
		draws := v.seed.Draws(int32(v.number(version)))
		var drawn []string
		for _, m := range oneDraw.FindAllStringSubmatch(line, -1) {
			drawn = append(drawn, fmt.Sprintf("draw(%s) = %d", m[1], draws.Draw(v.number(m[1]))))
		}
		return "version " + version + ": " + strings.Join(drawn, ", ")
	case lineSlide.MatchString(line):
		m := lineSlide.FindStringSubmatch(line)
		return v.slide(m[1], m[2])
	case lineStart.MatchString(line):
		m := lineStart.FindStringSubmatch(line)
		return fmt.Sprintf("start of %s: %s", m[1], board(v.create(m[1]).State.Position))
	default:
		require.Failf(v.t, "unknown kind of line", "%q", line)
		return ""
	}
}

func (v *vectors) number(s string) int {
	n, err := strconv.Atoi(s)
	require.NoError(v.t, err)
	return n
}

// block computes a block of random bytes without package game, and compares it with the numbers
// that the package draws.
func (v *vectors) block(version, k int) []byte {
	mac := hmac.New(sha256.New, v.seed.SeedBytes())
	mac.Write(binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint64(nil, uint64(version)), uint32(k)))
	block := mac.Sum(nil)

	draws := v.seed.Draws(int32(version))
	for range 4 * k {
		draws.Draw(1)
	}
	const most = 1 << 62 // a power of two, so that no number is rejected
	for at := 0; at < len(block); at += 8 {
		assert.EqualValues(v.t, binary.BigEndian.Uint64(block[at:])%most, draws.Draw(most))
	}
	return block
}

func (v *vectors) slide(tiles, direction string) string {
	var values []int32
	for _, s := range strings.Fields(tiles) {
		values = append(values, int32(v.number(s)))
	}
	columns := len(values)
	rules := twenty48.New(twenty48.Config{Rows: 2, Columns: columns, Start: twenty48.StartTwoTwos, Goal: 2048})
	position, err := rules.Position(append(values, make([]int32, columns)...), 0, 0)
	require.NoError(v.t, err)
	moved, change, err := rules.Move(position, 0, game.Slide(directions[direction]), v.seed.Draws(1))
	require.NoError(v.t, err)
	slid := moved.(*twenty48.Position).Tiles()
	slid[change.Spawned.Index] = 0
	return fmt.Sprintf("[%s] %s → %v, %d points", tiles, direction, slid[:columns], change.Gained)
}

var directions = map[string]game.Direction{
	"up": game.Up, "right": game.Right, "down": game.Down, "left": game.Left,
}

// create creates a game of the given variant in which one player has all seats.
func (v *vectors) create(variant string) *replay.Event {
	rules, ok := variants.Current(variant)
	require.True(v.t, ok, variant)
	seats := make([]replay.Seat, rules.Seats)
	for i := range seats {
		seats[i].Player = replay.Player{ID: otherID, Name: "ada"}
	}
	e, err := replay.Start(gameID, replay.Entry{Seat: game.NoSeat, Action: replay.Created{
		Variant: rules.ID, Revision: rules.Revision, Commitment: v.seed.Commitment(), Seats: seats,
	}}, v.seed, noon)
	require.NoError(v.t, err)
	return e
}

// game plays the moves in lines and describes the results.
func (v *vectors) game(what, variant string, lines []string) string {
	e := v.create(variant)
	if variant != "tribolo" {
		return v.classic(e, lines)
	}
	if what == "start" {
		position := e.State.Position.(*tribolo.Position)
		return position.Board().String() + "first to move: " + seatName(position.Turn()) + "\n"
	}
	return v.tribolo(e, lines)
}

var lineDone = regexp.MustCompile(`^ *\d+ +(created|resigned|moved (\w+)|undone to (\d+))`)

func (v *vectors) classic(e *replay.Event, lines []string) string {
	b := &strings.Builder{}
	states := []*replay.State{e.State}
	for i, line := range lines {
		m := lineDone.FindStringSubmatch(line)
		require.NotNil(v.t, m, "%q", line)
		if i > 0 {
			e = v.apply(states, m)
			states = append(states, e.State)
		}
		gained, spawned := "", ""
		if e.Change.Spawned != nil {
			gained = fmt.Sprintf("gains %d,", e.Change.Gained)
			spawned = fmt.Sprintf("cell %d = %d", e.Change.Spawned.Index, e.Change.Spawned.Value)
		}
		fmt.Fprintf(b, "%2d %-11s %-9s %-12s %s  moves %d, score %d, undo %d\n", e.State.Version, m[1], gained, spawned,
			board(e.State.Position), e.State.Position.MoveCount(), e.State.Position.Scores()[0], e.State.UndoTo)
	}
	return b.String()
}

func (v *vectors) apply(states []*replay.State, done []string) *replay.Event {
	s := states[len(states)-1]
	var e *replay.Event
	var err error
	switch {
	case done[3] != "":
		to := v.number(done[3])
		e, err = s.Undo(replay.Entry{Action: replay.Undone{To: int32(to)}}, states[to-1], noon)
	case done[2] != "":
		e, err = s.Apply(replay.Entry{Action: replay.Moved{Move: game.Slide(directions[done[2]])}}, noon)
	default:
		e, err = s.Apply(replay.Entry{Action: replay.Resigned{}}, noon)
	}
	require.NoError(v.t, err, done[0])
	return e
}

var lineTo = regexp.MustCompile(`^ *\d+ \w+ +(\d+),(\d+) `)

func (v *vectors) tribolo(e *replay.Event, lines []string) string {
	b := &strings.Builder{}
	for _, line := range lines {
		m := lineTo.FindStringSubmatch(line)
		if m == nil {
			continue // the result, which is computed below
		}
		seat := e.State.Turn()
		to := game.Cell{X: int32(v.number(m[1])), Y: int32(v.number(m[2]))}
		next, err := e.State.Apply(replay.Entry{Seat: seat, Action: replay.Moved{Move: game.To(to)}}, noon)
		require.NoError(v.t, err, line)
		e = next
		fmt.Fprintf(b, "%3d %-5s %s takes", e.State.Version, seatName(seat), cellName(to))
		for _, taken := range e.Change.Taken {
			fmt.Fprint(b, " ", cellName(taken))
		}
		fmt.Fprintf(b, "; next %s\n", seatName(e.State.Turn()))
	}
	require.NotNil(v.t, e.State.Result, "the game is not over: %v", e.State.LegalMoves())
	fmt.Fprintf(b, "scores %v, winners %v\n", e.State.Position.Scores(), e.State.Result.Winners)
	return b.String()
}

func cellName(c game.Cell) string { return fmt.Sprintf("%d,%d", c.X, c.Y) }

func seatName(seat int) string {
	if seat == game.NoSeat {
		return "nobody"
	}
	return tribolo.OwnerOf(seat).String()
}

// board formats a 2048 board as one line.
func board(p game.Position) string {
	b := &strings.Builder{}
	position := p.(*twenty48.Position)
	for i, tile := range position.Tiles() {
		if i > 0 && i%position.Columns() == 0 {
			b.WriteString("/ ")
		}
		fmt.Fprintf(b, "%s ", strings.Replace(strconv.Itoa(int(tile)), "0", ".", 1))
	}
	return strings.TrimSpace(b.String())
}
