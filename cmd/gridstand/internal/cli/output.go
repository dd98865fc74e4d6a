package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/gridstand/gridstand/client"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/board"
	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/gamestate"
	"github.com/gridstand/gridstand/internal/convert"
	"github.com/gridstand/gridstand/internal/describe"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// printMessage prints an API message as a line of JSON, including default values.
func (p *program) printMessage(m proto.Message) error {
	text, err := protojson.MarshalOptions{EmitUnpopulated: true}.Marshal(m)
	if err != nil { // clean also removes the random spaces in protobuf's errors
		return fmt.Errorf("the server's answer cannot be written as JSON: %s", clean(err.Error(), 200))
	}
	var line bytes.Buffer // without the spaces that protojson inserts at random
	if err := json.Compact(&line, text); err != nil {
		return fmt.Errorf("output: %w", err)
	}
	return p.printf("%s\n", harmless(line.Bytes()))
}

// printEither prints an API message as JSON if the user asked for it, and otherwise text.
func (p *program) printEither(m proto.Message, format string, args ...any) error {
	if p.flags.json {
		return p.printMessage(m)
	}
	return p.printf(format, args...)
}

// printJSON writes a value as a line of JSON.
func (p *program) printJSON(v any) error {
	line, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("output: %w", err)
	}
	return p.printf("%s\n", harmless(line))
}

// harmless escapes the control and formatting characters that JSON allows in strings,
// because a terminal may interpret them or reorder text. The values stay the same.
func harmless(line []byte) []byte {
	out := make([]byte, 0, len(line))
	for _, r := range string(line) {
		if unicode.IsPrint(r) {
			out = utf8.AppendRune(out, r)
			continue
		}
		for _, unit := range utf16.AppendRune(nil, r) {
			out = fmt.Appendf(out, `\u%04x`, unit)
		}
	}
	return out
}

// printGame writes a game, either as JSON or as a line about it and its board.
func (p *program) printGame(g *pb.Game, what string) error {
	line := fmt.Sprintf("%s  %s  %s points  version %s", variantOf(g), gamestate.PlayerName(g),
		commas(g.GetPosition().GetScores(), " : "), describe.Comma(g.GetVersion()))
	if what != "" {
		line += "  " + what
	}
	return p.printEither(g, "%s\n%s\n", line, board.Plain(g.GetPosition()))
}

// commas formats scores with thousands separators, with a separator between them.
func commas(scores []int32, between string) string {
	return strings.Join(convert.All(scores, describe.Comma[int32]), between)
}

// variantOf returns a game's variant, safe for a terminal.
func variantOf(g *pb.Game) string { return clean(g.GetVariant(), 24) }

// clean makes a string from a server safe for a terminal, and truncates it to limit.
func clean(text string, limit int) string { return client.CleanText(text, limit) }

// ago describes the time since t, or returns "" if t is nil.
func (p *program) ago(t *timestamppb.Timestamp) string {
	if t == nil {
		return ""
	}
	return describe.Ago(p.clock().Sub(t.AsTime()))
}

// stage describes the stage of a game in a few words.
func (p *program) stage(g *pb.Game) string {
	stage := gamestate.Stage(g, p.clock())
	if g.GetPrivate() {
		stage = "private, " + stage
	}
	return stage
}
