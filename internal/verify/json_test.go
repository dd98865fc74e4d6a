package verify_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/encoding/protojson"

	"github.com/gridstand/gridstand/internal/verify"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// lines formats events as the command prints them, with audiences in between.
func lines(t testing.TB, events []*pb.Event) string {
	t.Helper()
	var b strings.Builder
	for i, e := range events {
		line, err := protojson.MarshalOptions{EmitDefaultValues: true}.Marshal(
			&pb.WatchResponse{Update: &pb.WatchResponse_Event{Event: e}})
		require.NoError(t, err)
		b.Write(line)
		b.WriteByte('\n')
		if i%5 == 0 {
			b.WriteString(`{"audience": 3}` + "\n\n")
		}
	}
	return b.String()
}

func TestReadJSON(t *testing.T) {
	t.Parallel()
	events := transcript(t, "restless", seedOf(t, 1), 30)
	text := lines(t, events)
	for name, r := range map[string]string{
		"as it is printed":    text,
		"from another system": strings.ReplaceAll(text, "\n", "\r\n"),
		"no newline at end":   strings.TrimSpace(text),
		"with a newer field":  strings.ReplaceAll(text, `{"event":`, `{"since": 1, "event":`),
	} {
		report, err := verify.Transcript(verify.ReadJSON(iotest.OneByteReader(strings.NewReader(r))))
		require.NoError(t, err, name)
		assert.Equal(t, len(events), report.Versions, name)
	}
}

func TestReadJSON_NamesTheWrongLine(t *testing.T) {
	t.Parallel()
	text := lines(t, transcript(t, "classic", seedOf(t, 1), 3))
	for name, tc := range map[string]struct{ text, want string }{
		"no JSON":      {text + "\x1b[31mred", "line 8: not a message of a stream"},
		"another type": {`{"event": 5}`, "line 1: not a message of a stream"},
		"a game":       {`{"game": {}}`, "line 1: a whole game instead of its events"},
		"a long line":  {text + `{"audience": ` + strings.Repeat("1", verify.MaxLine), "a line is longer than 1 MB"},
		"nothing":      {"\n\n", "the transcript is empty"},
	} {
		_, err := verify.Transcript(verify.ReadJSON(strings.NewReader(tc.text)))
		require.ErrorContains(t, err, tc.want, name)
		assert.NotContains(t, err.Error(), "\x1b", name)
	}
	broken := errors.New("pipe broken")
	_, err := verify.Transcript(verify.ReadJSON(iotest.ErrReader(broken)))
	assert.ErrorIs(t, err, broken)
}

// FuzzReadJSON looks for input that makes the reader or the rules panic.
func FuzzReadJSON(f *testing.F) {
	whole := []byte(lines(f, transcript(f, "3x3", seedOf(f, 1), 10)))
	f.Add(whole)
	f.Add(whole[:len(whole)/2])
	f.Add(bytes.ReplaceAll(whole, []byte("1"), []byte("-7")))
	f.Add([]byte(`{"event":{"version":1,"created":{"seats":[{}]},"result":{}}}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		report, err := verify.Transcript(verify.ReadJSON(bytes.NewReader(b)))
		if err == nil {
			assert.NotEmpty(t, report.Variant)
		}
	})
}
