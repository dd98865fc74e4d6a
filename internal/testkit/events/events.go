// Package eventstest reads games and challenges as Server-Sent Events, record by record. Only
// tests import it.
package eventstest

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protojson"

	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// Record is one record of an event stream.
type Record struct {
	ID   string
	Name string // name of the event, usually empty
	Data string
	// Update or Snapshot is the decoded data. Both are nil in a record with a name.
	Update   *pb.WatchResponse
	Snapshot *pb.WatchChallengeResponse
}

// Reader reads records from the body of a response.
type Reader struct {
	Body  *bufio.Reader
	Retry int // reconnection time sent by the server, in milliseconds
}

// NewReader returns a Reader for a response body.
func NewReader(body io.Reader) *Reader { return &Reader{Body: bufio.NewReader(body)} }

// Next returns the next record. An error means that reading the body failed or that a record is
// malformed.
func (r *Reader) Next() (Record, error) {
	var got Record
	for {
		line, err := r.Body.ReadString('\n')
		if err != nil {
			return Record{}, err
		}
		name, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
		switch name {
		case "id":
			got.ID = value
		case "event":
			got.Name = value
		case "retry":
			r.Retry, err = strconv.Atoi(value)
		case "data":
			got.Data = value
		case "":
			if got.Data == "" {
				continue
			}
			switch {
			case got.Name != "":
			case strings.HasPrefix(got.Data, `{"challenge":`):
				got.Snapshot = &pb.WatchChallengeResponse{}
				err = protojson.Unmarshal([]byte(got.Data), got.Snapshot)
			default:
				got.Update = &pb.WatchResponse{}
				err = protojson.Unmarshal([]byte(got.Data), got.Update)
			}
			return got, err
		default:
			err = fmt.Errorf("unexpected line %q", line)
		}
		if err != nil {
			return Record{}, err
		}
	}
}

// Must returns the next record that is not an audience update. The test fails on an error.
func (r *Reader) Must(t testing.TB) Record {
	t.Helper()
	for {
		got, err := r.Next()
		require.NoError(t, err)
		if _, audience := got.Update.GetUpdate().(*pb.WatchResponse_Audience); !audience {
			return got
		}
	}
}
