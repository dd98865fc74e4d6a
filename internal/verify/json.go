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

// MaxLine is the length of the longest line that ReadJSON accepts, in bytes. The largest board
// needs only a fraction of that.
const MaxLine = 1 << 20

// errNoEvents means that a line contains a whole game instead of an event.
var errNoEvents = errors.New("a whole game instead of its events: watch it with --from 0")

// ReadJSON reads a transcript as `watch <game> --from 0 --json` prints it: one WatchResponse
// per line, in protobuf's JSON form. It skips audiences, empty lines and fields that this
// version of the program does not know. The sequence ends after an error.
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
		switch err := lines.Err(); {
		case errors.Is(err, bufio.ErrTooLong):
			yield(nil, fmt.Errorf("not a transcript: a line is longer than %d MB", MaxLine>>20))
		case err != nil:
			yield(nil, fmt.Errorf("transcript: %w", err))
		}
	}
}

// parseLine returns nil if the line contains no event.
func parseLine(line []byte) (*pb.Event, error) {
	if len(line) == 0 {
		return nil, nil
	}
	var message pb.WatchResponse
	if err := (protojson.UnmarshalOptions{DiscardUnknown: true}).Unmarshal(line, &message); err != nil {
		// The error quotes the line, which may contain anything.
		return nil, fmt.Errorf("not a message of a stream: %s", client.CleanText(err.Error(), 200))
	}
	if message.GetGame() != nil {
		return nil, errNoEvents
	}
	return message.GetEvent(), nil
}
