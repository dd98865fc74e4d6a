package challenges_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

func (env *env) byGRPC(r *reader, m method, request proto.Message) ([]byte, error) {
	return env.through(r, r.conn, m, request)
}

// through makes a call. For a stream, it returns the messages up to the one that completes the
// owner's attempt.
func (env *env) through(r *reader, conn grpc.ClientConnInterface, m method, request proto.Message) ([]byte, error) {
	ctx, cancel := context.WithCancel(r.ctx(env.t))
	defer cancel()
	answer := m.answer.New().Interface()
	if !m.streams {
		err := conn.Invoke(ctx, m.name, request, answer)
		env.checkStandings(answer)
		return encode(answer), err
	}
	stream, err := conn.NewStream(ctx, &grpc.StreamDesc{ServerStreams: true}, m.name)
	if err != nil {
		return nil, err
	}
	if err := stream.SendMsg(request); err != nil {
		return nil, err
	}
	if err := stream.CloseSend(); err != nil {
		return nil, err
	}
	var all []byte
	for {
		err := stream.RecvMsg(answer)
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if err != nil {
			return all, err
		}
		env.checkStandings(answer)
		all = append(all, encode(answer)...)
		if env.complete(answer) {
			return all, nil
		}
	}
}

// checkStandings checks that the standings of a race reveal nothing about the first board
// before it opens, and that a hidden player appears only in the standings of a race that they
// entered.
func (env *env) checkStandings(m proto.Message) {
	listed, ok := m.(interface{ GetStandings() []*pb.Standing })
	if !ok {
		return
	}
	for _, line := range listed.GetStandings() {
		if env.at() < running {
			assert.Zero(env.t, line.GetLargestTile()+line.GetScore()+line.GetMoveCount(), "standings before the race opens")
		}
		if env.kind != race {
			assert.NotEqual(env.t, "Ms-hidden", line.GetPlayer().GetName(), "standings")
		}
	}
}

// complete reports whether a message is the last one that the test waits for on a stream. The
// stream of a challenge may begin with its state before the close.
func (env *env) complete(m proto.Message) bool {
	switch m := m.(type) {
	case *pb.WatchResponse:
		return max(m.GetGame().GetVersion(), m.GetEvent().GetVersion()) >= env.owner.game.GetVersion()
	case *pb.WatchChallengeResponse:
		return !env.public(env.at()) || len(m.GetChallenge().GetSeed()) > 0
	}
	return true
}

// byJSON makes a call over Connect with JSON.
func (env *env) byJSON(r *reader, m method, request proto.Message) ([]byte, error) {
	body, err := protojson.Marshal(request)
	if err != nil {
		return nil, err
	}
	code, answer := env.ask(r, http.MethodPost, m.name, body, nil)
	return answer, toStatus(code, answer)
}

// ask makes an HTTP request and returns the status and the body. If enough is not nil, it reads the
// body line by line until enough returns true.
func (env *env) ask(r *reader, verb, address string, body []byte, enough func(line string) bool) (int, []byte) {
	t := env.t
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, verb, "http://"+r.server.String()+address, bytes.NewReader(body))
	require.NoError(t, err)
	for i := 0; i < len(r.headers); i += 2 {
		request.Header.Set(r.headers[i], r.headers[i+1])
	}
	if verb == http.MethodPost {
		request.Header.Set("Content-Type", "application/json")
	}
	response, err := r.web.Do(request)
	require.NoError(t, err)
	defer func() { _ = response.Body.Close() }()
	var answer bytes.Buffer
	// Record the body without the chunk headers.
	recorded := io.TeeReader(response.Body, io.MultiWriter(&answer, &r.http))
	if enough == nil {
		_, err := io.Copy(io.Discard, recorded)
		require.NoError(t, err, address)
		return response.StatusCode, answer.Bytes()
	}
	lines := newLines(recorded)
	for line, err := lines(); err == nil; line, err = lines() {
		if enough(line) {
			break
		}
	}
	return response.StatusCode, answer.Bytes()
}

// toStatus returns the error in a Connect response, or nil if the call succeeded.
func toStatus(code int, body []byte) error {
	if code < http.StatusBadRequest {
		return nil
	}
	var sent struct {
		Code, Message string
		Details       []struct{ Type, Value string }
	}
	if err := json.Unmarshal(body, &sent); err != nil {
		return fmt.Errorf("%d %s: %w", code, body, err)
	}
	var c codes.Code
	if err := c.UnmarshalJSON([]byte(`"` + strings.ToUpper(sent.Code) + `"`)); err != nil {
		return err
	}
	s := status.New(c, sent.Message)
	for _, d := range sent.Details {
		value, err := base64.RawStdEncoding.DecodeString(d.Value)
		info := &errdetails.ErrorInfo{}
		if err != nil || !strings.HasSuffix(d.Type, "ErrorInfo") || proto.Unmarshal(value, info) != nil {
			continue
		}
		if with, err := s.WithDetails(info); err == nil {
			s = with
		}
	}
	return s.Err()
}
