package challenges_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"image/color"
	"image/png"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/stats"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"github.com/gridstand/gridstand/internal/palette"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// canary is one possible encoding of a secret in a message.
type canary struct {
	form  string
	bytes []byte
}

// inBase64 returns the characters that a secret contributes to the base64 encoding of any message
// that contains it, for each alignment.
func inBase64(form string, secret []byte) []canary {
	var all []canary
	for name, encoding := range map[string]*base64.Encoding{"base64": base64.RawStdEncoding, "base64url": base64.RawURLEncoding} {
		for shift := range 3 {
			encoded := encoding.EncodeToString(append(make([]byte, shift), secret...))
			from, to := (8*shift+5)/6, 8*(shift+len(secret))/6
			all = append(all, canary{fmt.Sprintf("%s in %s, shifted by %d", form, name, shift), []byte(encoded[from:to])})
		}
	}
	return all
}

// ofSeed returns the possible encodings of a seed.
func ofSeed(seed []byte) []canary {
	all := []canary{
		{"raw seed", seed},
		{"seed in hex", []byte(hex.EncodeToString(seed))},
		{"seed in capital hex", []byte(strings.ToUpper(hex.EncodeToString(seed)))},
		{"seed as numbers", []byte(strings.Trim(fmt.Sprint(seed), "[]"))},
		{"seed as numbers with commas", []byte(strings.ReplaceAll(strings.Trim(fmt.Sprint(seed), "[]"), " ", ","))},
	}
	return append(all, inBase64("seed", seed)...)
}

// ofBoards returns the possible encodings of boards.
func ofBoards(boards ...[]int32) []canary {
	var all []canary
	for _, tiles := range boards {
		packed, err := proto.Marshal(&pb.Twenty48Board{Tiles: tiles})
		if err != nil {
			panic(err) // impossible: the message is valid
		}
		numbers := fmt.Sprint(tiles)
		all = append(all, canary{"board in a message", packed}, canary{"board as numbers", []byte(numbers)},
			canary{"board in JSON", []byte(strings.ReplaceAll(numbers, " ", ","))})
		all = append(all, inBase64("board", packed)...)
	}
	return all
}

// find returns the form of the first canary in data, or "" if data contains none. It also searches
// data with all whitespace removed, because JSON may contain whitespace anywhere.
func find(data []byte, canaries []canary) string {
	dense := make([]byte, 0, len(data))
	for _, b := range data {
		if b != ' ' && b != '\n' {
			dense = append(dense, b)
		}
	}
	for _, c := range canaries {
		if bytes.Contains(data, c.bytes) || bytes.Contains(dense, c.bytes) {
			return c.form
		}
	}
	return ""
}

// Ensure that find finds a seed and a board in every encoding that the server could use.
func TestCanary_Finds(t *testing.T) {
	t.Parallel()
	seed := make([]byte, 32)
	for i := range seed {
		seed[i] = byte(200 + i)
	}
	board := []int32{0, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 0, 2}
	game := &pb.Game{
		Id: "game", Seed: seed,
		Position: &pb.Position{Board: &pb.Position_Twenty48{Twenty48: &pb.Twenty48Board{Rows: 4, Columns: 4, Tiles: board}}},
	}
	encoded, err := proto.Marshal(game)
	require.NoError(t, err)
	dense, err := protojson.Marshal(game)
	require.NoError(t, err)
	spread, err := protojson.MarshalOptions{Multiline: true}.Marshal(game)
	require.NoError(t, err)
	for shift := range 3 {
		inner := append(make([]byte, shift), encoded...)
		for name, data := range map[string][]byte{
			"a message": encoded, "JSON": dense, "indented JSON": spread, "a number list": fmt.Append(nil, seed, board),
			"base64": []byte(base64.StdEncoding.EncodeToString(inner)), "base64url": []byte(base64.RawURLEncoding.EncodeToString(inner)),
		} {
			assert.NotEmpty(t, find(data, ofSeed(seed)), "the seed in %s", name)
			assert.NotEmpty(t, find(data, ofBoards(board)), "the board in %s", name)
		}
	}
	for _, data := range []string{hex.EncodeToString(seed), fmt.Sprintf("%X", seed), fmt.Sprintf("%q", "x") + string(seed)} {
		assert.NotEmpty(t, find([]byte(data), ofSeed(seed)), data)
	}
	seed[0]++
	board[1] = 4
	assert.Empty(t, find(encoded, append(ofSeed(seed), ofBoards(board)...)))
	assert.Empty(t, find(dense, append(ofSeed(seed), ofBoards(board)...)))
}

// drawn returns the board that a picture of a 4×4 game shows, formatted as text, or nil if data is
// not a picture. A cell whose color is not that of a tile is -1.
func drawn(data []byte) []byte {
	picture, err := png.Decode(bytes.NewReader(data))
	if err != nil {
		return nil
	}
	faces := map[color.RGBA]int32{palette.Dark.Empty: 0}
	for i, tone := range palette.Dark.Tiles {
		faces[tone.Ground] = 2 << i
	}
	const side, left, top, pitch, cell = 4, 60, 61, 130, 118
	tiles := make([]int32, side*side)
	for i := range tiles {
		at := picture.At(left+i%side*pitch+6, top+i/side*pitch+cell/2) // a point next to the number
		shade, _ := color.RGBAModel.Convert(at).(color.RGBA)
		face, ok := faces[shade]
		if !ok {
			face = -1
		}
		tiles[i] = face
	}
	return fmt.Append(nil, tiles)
}

// TagRPC implements stats.Handler.
func (l *tape) TagRPC(ctx context.Context, _ *stats.RPCTagInfo) context.Context { return ctx }

// TagConn implements stats.Handler.
func (l *tape) TagConn(ctx context.Context, _ *stats.ConnTagInfo) context.Context { return ctx }

// HandleConn implements stats.Handler.
func (l *tape) HandleConn(context.Context, stats.ConnStats) {}

// HandleRPC implements stats.Handler. It records the data that framing and header compression
// obscure in the connection's bytes.
func (l *tape) HandleRPC(_ context.Context, s stats.RPCStats) {
	switch s := s.(type) {
	case *stats.InHeader:
		_, _ = fmt.Fprintln(l, s.Header)
	case *stats.InTrailer:
		_, _ = fmt.Fprintln(l, s.Trailer)
	case *stats.InPayload:
		if m, ok := s.Payload.(proto.Message); ok {
			_, _ = l.Write(encode(m))
		}
	case *stats.End:
		if s.Error != nil {
			_, _ = l.Write(encode(status.Convert(s.Error).Proto()))
		}
	}
}

func encode(m proto.Message) []byte {
	encoded, err := proto.Marshal(m)
	if err != nil {
		panic(err) // impossible: it was decoded before
	}
	return encoded
}

// checkTapes searches everything that the readers received and the server logged. The seed and the
// boards must not be in it before the stage that reveals them.
func (env *env) checkTapes() {
	t := env.t
	seed, foreign, first := ofSeed(env.seed), ofBoards(env.foreign...), ofBoards(env.first)
	for s := env.begins(); s < stages; s++ {
		secret := !env.public(s)
		if secret && s < expired {
			assert.Empty(t, find([]byte(env.logged[s]), seed), "the log, %v", s)
			assert.Empty(t, find([]byte(env.logged[s]), foreign), "the log, %v", s)
		}
		if s < running {
			assert.Empty(t, find([]byte(env.logged[s]), first), "the log, %v", s)
		}
		if s < expired {
			assert.Empty(t, find([]byte(env.logged[s]), env.tomorrowSeed), "tomorrow's seed in the log, %v", s)
		}
		for _, r := range env.readers {
			got := append(r.grpc.part(s), r.http.part(s)...)
			assert.Empty(t, find(got, env.tomorrowSeed), "tomorrow's seed in everything that %s received, %v", r.role, s)
			if secret {
				assert.Empty(t, find(got, seed), "everything that %s received, %v", r.role, s)
			}
			if env.attempt(s, r).reason != "" {
				assert.Empty(t, find(got, foreign), "everything that %s received, %v", r.role, s)
			}
			if s < running || env.unseen(s, r) {
				assert.Empty(t, find(got, first), "everything that %s received, %v", r.role, s)
			}
		}
	}
	// Make sure that the search works: it must find the seed and the boards after they have been
	// shown.
	for _, r := range env.readers {
		for door, tape := range map[string]*tape{"gRPC": &r.grpc, "HTTP": &r.http} {
			if door == "HTTP" && r.overSSH() {
				continue
			}
			assert.NotEmpty(t, find(tape.part(closed), seed), "the seed by %s for %s", door, r.role)
			assert.NotEmpty(t, find(tape.part(closed), foreign), "the board by %s for %s", door, r.role)
		}
	}
}
