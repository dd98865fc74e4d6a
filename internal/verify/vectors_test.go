package verify_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
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
)

// TestVectors recomputes the test vectors of docs/verify.md, which other authors use to write
// verifiers.
func TestVectors(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/verify.md")
	require.NoError(t, err)
	var stands strings.Builder
	for _, block := range regexp.MustCompile("(?ms)^```vectors\n(.*?)^```").FindAllSubmatch(page, -1) {
		stands.Write(block[1])
	}
	var counting [game.SeedSize]byte
	for i := range counting {
		counting[i] = byte(i)
	}
	v := vectors{t: t}
	v.seed, err = game.SeedFromBytes(counting[:])
	require.NoError(t, err)
	v.numbers()
	v.slides()
	for _, variant := range []string{"classic", "3x3", "5x5", "6x6", "twos", "restless", "vt100"} {
		v.printf("start of %s: %s\n", variant, board(start(t, variant, v.seed, replay.Attempt{}).State.Position))
	}
	v.classic()
	v.tribolo(regexp.MustCompile(`(?m)^ *\d+ (?:blue|red|green) +(\d+),(\d+) takes`).FindAllStringSubmatch(stands.String(), -1))
	assert.Equal(t, stands.String(), v.computed.String())
}

// vectors computes the test vectors.
type vectors struct {
	t        *testing.T
	seed     game.Seed
	computed strings.Builder
}

func (v *vectors) printf(format string, args ...any) { fmt.Fprintf(&v.computed, format, args...) }

func (v *vectors) numbers() {
	v.printf("seed = %x\nSHA-256(seed) = %x\n", v.seed.SeedBytes(), v.seed.Commitment())
	for _, of := range [][2]int{{1, 0}, {1, 1}, {2, 0}, {300, 7}} {
		v.printf("block(%d, %d) = %x\n", of[0], of[1], v.block(of[0], of[1]))
	}
	const rejecting = 1<<62 + 1 // the first number of version 5 is discarded
	for _, tt := range []struct {
		version int32
		of      []int
	}{
		{1, []int{16, 10, 15, 10, 1000, 1000}}, {2, []int{14, 10}}, {5, []int{rejecting, rejecting, rejecting}},
	} {
		var drawn []string
		draws := v.seed.Draws(tt.version)
		for _, n := range tt.of {
			drawn = append(drawn, fmt.Sprintf("draw(%d) = %d", n, draws.Draw(n)))
		}
		v.printf("version %d: %s\n", tt.version, strings.Join(drawn, ", "))
	}
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

var directions = map[string]game.Direction{
	"up": game.Up, "right": game.Right, "down": game.Down, "left": game.Left,
}

func (v *vectors) slides() {
	for _, tt := range []struct {
		direction string
		tiles     []int32
	}{
		{"left", []int32{2, 2, 2, 0}},
		{"left", []int32{2, 2, 2, 2}},
		{"left", []int32{4, 2, 2, 0}},
		{"left", []int32{2, 0, 2, 4}},
		{"right", []int32{0, 2, 2, 2}},
		{"right", []int32{4, 4, 8, 16}},
		{"left", []int32{2, 4, 2, 4, 4}},
	} {
		columns := len(tt.tiles)
		rules := twenty48.New(twenty48.Config{Rows: 2, Columns: columns, Start: twenty48.StartTwoTwos, Goal: 2048})
		position, err := rules.Position(append(tt.tiles, make([]int32, columns)...), 0, 0)
		require.NoError(v.t, err)
		moved, change, err := rules.Move(position, 0, game.Slide(directions[tt.direction]), v.seed.Draws(1))
		require.NoError(v.t, err)
		slid := moved.(*twenty48.Position).Tiles()
		slid[change.Spawned.Index] = 0
		v.printf("%v %s → %v, %d points\n", tt.tiles, tt.direction, slid[:columns], change.Gained)
	}
}

func (v *vectors) classic() {
	v.printf("game of classic\n")
	e := start(v.t, "classic", v.seed, replay.Attempt{})
	var states []*replay.State
	for _, what := range []string{
		"created", "moved left", "moved down", "moved left", "moved up", "undone to 4", "moved up", "undone to 4", "undone to 3",
		"moved right", "moved down", "undone to 1", "moved left", "moved right", "resigned",
	} {
		var err error
		switch words := strings.Fields(what); words[0] {
		case "moved":
			e, err = e.State.Apply(replay.Entry{Action: replay.Moved{Move: game.Slide(directions[words[1]])}}, noon)
		case "undone":
			to, _ := strconv.Atoi(words[2])
			e, err = e.State.Undo(replay.Entry{Action: replay.Undone{To: int32(to)}}, states[to-1], noon)
		case "resigned":
			e, err = e.State.Apply(replay.Entry{Action: replay.Resigned{}}, noon)
		}
		require.NoError(v.t, err, what)
		states = append(states, e.State)
		gained, spawned := "", ""
		if e.Change.Spawned != nil {
			gained = fmt.Sprintf("gains %d,", e.Change.Gained)
			spawned = fmt.Sprintf("cell %d = %d", e.Change.Spawned.Index, e.Change.Spawned.Value)
		}
		v.printf("%2d %-11s %-9s %-12s %s  moves %d, score %d, undo %d\n", e.State.Version, what, gained, spawned,
			board(e.State.Position), e.State.Position.MoveCount(), e.State.Position.Scores()[0], e.State.UndoTo)
	}
}

// tribolo plays the moves that stand on the page.
func (v *vectors) tribolo(moves [][]string) {
	e := start(v.t, "tribolo", v.seed, replay.Attempt{})
	v.printf("start of tribolo\n%sfirst to move: %s\ngame of tribolo\n", e.State.Position.(*tribolo.Position).Board(), seatName(e.State.Turn()))
	for _, m := range moves {
		seat := e.State.Turn()
		x, _ := strconv.Atoi(m[1])
		y, _ := strconv.Atoi(m[2])
		to := game.Cell{X: int32(x), Y: int32(y)}
		var err error
		e, err = e.State.Apply(replay.Entry{Seat: seat, Action: replay.Moved{Move: game.To(to)}}, noon)
		require.NoError(v.t, err, m[0])
		v.printf("%3d %-5s %s takes", e.State.Version, seatName(seat), cellName(to))
		for _, taken := range e.Change.Taken {
			v.printf(" %s", cellName(taken))
		}
		v.printf("; next %s\n", seatName(e.State.Turn()))
	}
	require.Equal(v.t, replay.Finished, e.State.Status, "the game is not over: %v", e.State.LegalMoves())
	v.printf("scores %v, winners %v\n", e.State.Position.Scores(), e.State.Winners())
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
		if i > 0 && i%position.Grid().Columns == 0 {
			b.WriteString("/ ")
		}
		fmt.Fprintf(b, "%s ", strings.Replace(strconv.Itoa(int(tile)), "0", ".", 1))
	}
	return strings.TrimSpace(b.String())
}
