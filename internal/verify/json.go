package verify

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"iter"

	"google.golang.org/protobuf/encoding/protojson"

	"github.com/gridstand/gridstand/client"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// MaxLine is the length in bytes of the longest line that ReadJSON accepts. The largest
// board needs a fraction of it.
const MaxLine = 1 << 20

// errNoEvents means that a line holds a whole game in place of its events.
var errNoEvents = errors.New("a whole game instead of its events: watch it with --from 0")

// ReadJSON reads a transcript as `watch <game> --from 0 --json` prints it: one
// WatchResponse per line, in the JSON form of protobuf. It skips audiences, empty lines
// and fields that this version of the program does not know. An error ends the
// sequence.
func ReadJSON(r io.Reader) iter.Seq2[*pb.Event, error] {
	return func(yield func(*pb.Event, error) bool) {
		lines := bufio.NewScanner(r)
		lines.Buffer(nil, MaxLine)
		for n := 1; lines.Scan(); n++ {
			event, err := parseLine(lines.Bytes())
			if err != nil {
				yield(nil, fmt.Errorf("line %d: %w", n, err))
				return
			}
			if event != nil && !yield(event, nil) {
				return
			}
		}
		if err := lines.Err(); err != nil {
			yield(nil, fmt.Errorf("transcript: %w", err))
		}
	}
}

// parseLine returns nil for a line without an event.
func parseLine(line []byte) (*pb.Event, error) {
	if len(line) == 0 {
		return nil, nil
	}
	var message pb.WatchResponse
	if err := (protojson.UnmarshalOptions{DiscardUnknown: true}).Unmarshal(line, &message); err != nil {
		// The error quotes the line, which may hold anything.
		return nil, fmt.Errorf("not a message of a stream: %s", client.CleanText(err.Error(), 200))
	}
	if message.GetGame() != nil {
		return nil, errNoEvents
	}
	return message.GetEvent(), nil
}
