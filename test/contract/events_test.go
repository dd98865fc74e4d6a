package contract

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protojson"

	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// sseRecord is one record of Server-Sent Events.
type sseRecord struct {
	ID   string
	Name string // name of the event, usually empty
	Data string
	// Update or Snapshot is the decoded data. Both are nil in a record with a name.
	Update   *pb.WatchResponse
	Snapshot *pb.WatchChallengeResponse
}

// events is a response with Server-Sent Events.
type events struct {
	body   *bufio.Reader
	conn   net.Conn
	answer *http.Response
	retry  int // reconnection time sent by the server, in milliseconds
}

// next returns the next record. An error means that reading the body failed or that a record is
// malformed.
func (e *events) next() (sseRecord, error) {
	var got sseRecord
	for {
		line, err := e.body.ReadString('\n')
		if err != nil {
			return sseRecord{}, err
		}
		name, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
		switch name {
		case "id":
			got.ID = value
		case "event":
			got.Name = value
		case "retry":
			e.retry, err = strconv.Atoi(value)
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
			return sseRecord{}, err
		}
	}
}

// must returns the next record that is not an audience update. The test fails on an error.
func (e *events) must(t testing.TB) sseRecord {
	t.Helper()
	for {
		got, err := e.next()
		require.NoError(t, err)
		if _, audience := got.Update.GetUpdate().(*pb.WatchResponse_Audience); !audience {
			return got
		}
	}
}
