package apitest

import (
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"regexp"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/known/timestamppb"

	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// reasons is the contract's error table, as far as one seat can meet it.
var reasons = map[string]struct {
	code     codes.Code
	metadata []string // keys
	retry    bool
}{
	pb.ReasonVersionConflict:    {code: codes.Aborted, metadata: []string{"version"}},
	pb.ReasonIllegalMove:        {code: codes.FailedPrecondition, metadata: []string{"detail"}},
	pb.ReasonGameOver:           {code: codes.FailedPrecondition},
	pb.ReasonNameTaken:          {code: codes.AlreadyExists},
	pb.ReasonGameNotFound:       {code: codes.NotFound},
	pb.ReasonPlayerNotFound:     {code: codes.NotFound},
	pb.ReasonVariantNotFound:    {code: codes.NotFound},
	pb.ReasonNoScore:            {code: codes.NotFound},
	pb.ReasonNotSeated:          {code: codes.PermissionDenied},
	pb.ReasonBadToken:           {code: codes.Unauthenticated},
	pb.ReasonRateLimited:        {code: codes.ResourceExhausted, metadata: []string{"limit"}, retry: true},
	pb.ReasonTooManyGames:       {code: codes.ResourceExhausted, metadata: []string{"limit"}, retry: true},
	pb.ReasonGameDamaged:        {code: codes.DataLoss, metadata: []string{"version"}},
	pb.ReasonServerUnavailable:  {code: codes.Unavailable, retry: true},
	pb.ReasonStorageUnavailable: {code: codes.Unavailable, retry: true},
}

// pushback is the trailer that gRPC's own retry policy understands.
const pushback = "grpc-retry-pushback-ms"

// refusal is what an error carries.
type refusal struct {
	code   codes.Code
	fields []string // of a BadRequest
	info   *errdetails.ErrorInfo
	retry  *errdetails.RetryInfo
}

func refusalOf(t testing.TB, err error) refusal {
	s, ok := status.FromError(err)
	assert.True(t, ok, "%v is no status", err)
	r := refusal{code: s.Code()}
	for _, detail := range s.Details() {
		switch d := detail.(type) {
		case *errdetails.BadRequest:
			for _, v := range d.GetFieldViolations() {
				assert.NotEmpty(t, v.GetDescription())
				r.fields = append(r.fields, v.GetField())
			}
		case *errdetails.ErrorInfo:
			assert.Nil(t, r.info, "one ErrorInfo")
			r.info = d
		case *errdetails.RetryInfo:
			r.retry = d
		default:
			assert.Fail(t, "unknown detail", "%v", detail)
		}
	}
	return r
}

// internals are what the errors of libraries speak of.
var internals = regexp.MustCompile(`(?i)redis|dial|tcp|127\.0\.0\.1|EOF|context|\bERR\b|goroutine|\.go\b|\.lua\b|%!|panic`)

var number = regexp.MustCompile(`\d+`)

// checkRefusal holds any error against the table: nothing that a handler
// answers is ever INTERNAL or UNKNOWN or lacks its details.
func checkRefusal(t testing.TB, method string, err error, trailer metadata.MD) {
	r := refusalOf(t, err)
	message := status.Convert(err).Message()
	assert.NotEmpty(t, message, "%s: a message for people", method)
	switch r.code {
	case codes.Canceled, codes.DeadlineExceeded:
		return // by the test itself
	}
	assert.NotRegexp(t, internals, message, "%s: no internal text reaches a caller", method)
	switch r.code {
	case codes.Unimplemented:
		assert.Contains(t, []string{pb.GameService_JoinGame_FullMethodName, pb.GameService_Undo_FullMethodName}, method)
		return
	case codes.InvalidArgument:
		assert.Len(t, r.fields, 1, "%s: %v", method, err)
		assert.Nil(t, r.info, "%s: %v", method, err)
	default:
		if !assert.NotNil(t, r.info, "%s: %v has no details", method, err) {
			return
		}
		row, known := reasons[r.info.GetReason()]
		assert.True(t, known, "%s: reason %q", method, r.info.GetReason())
		assert.Equal(t, row.code, r.code, "%s: %v", method, err)
		assert.Equal(t, "gridstand", r.info.GetDomain())
		assert.Empty(t, r.fields, "%s: %v", method, err)
		assert.Equal(t, row.retry, r.retry != nil, "%s: RetryInfo with %v", method, err)
		var keys []string
		for key, value := range r.info.GetMetadata() {
			keys = append(keys, key)
			assert.NotEmpty(t, value, "%s: metadata %s", method, key)
		}
		assert.ElementsMatch(t, row.metadata, keys, "%s: metadata of %v", method, err)
		for _, n := range number.FindAllString(message, -1) {
			if r.code != codes.FailedPrecondition { // A rule may well speak of 2048.
				assert.Contains(t, r.info.GetMetadata(), keyOf(r.info.GetMetadata(), n), "%s: %q varies", method, message)
			}
		}
	}
	want := []string(nil)
	if r.retry != nil {
		delay := r.retry.GetRetryDelay().AsDuration()
		assert.Positive(t, delay)
		want = []string{strconv.FormatInt(delay.Milliseconds(), 10)}
	}
	assert.Equal(t, want, trailer.Get(pushback), "%s: %v", method, err)
}

func keyOf(m map[string]string, value string) string {
	for k, v := range m {
		if v == value {
			return k
		}
	}
	return "a key for " + value
}

// wantReason requires an error of the table, and returns its metadata.
func wantReason(t testing.TB, err error, reason string) map[string]string {
	t.Helper()
	require.Error(t, err, "not refused with %s", reason)
	r := refusalOf(t, err)
	require.Equal(t, reason, r.info.GetReason(), "%v", err)
	require.Equal(t, reasons[reason].code, r.code)
	return r.info.GetMetadata()
}

// wantField requires a field error.
func wantField(t testing.TB, err error, field string) {
	t.Helper()
	require.Error(t, err, "not refused for %s", field)
	require.Equal(t, codes.InvalidArgument, status.Code(err), "%v", err)
	require.Equal(t, []string{field}, refusalOf(t, err).fields)
}

// wantConflict requires a VERSION_CONFLICT that names the version.
func wantConflict(t testing.TB, err error, version int32) {
	t.Helper()
	require.Equal(t, map[string]string{"version": strconv.Itoa(int(version))}, wantReason(t, err, pb.ReasonVersionConflict))
}

// checkUnary holds every answer against what is true of all of them.
func checkUnary(t testing.TB) grpc.UnaryClientInterceptor {
	return func(ctx context.Context, method string, request, reply any, conn *grpc.ClientConn, invoke grpc.UnaryInvoker, options ...grpc.CallOption) error {
		var trailer metadata.MD
		err := invoke(ctx, method, request, reply, conn, append(options, grpc.Trailer(&trailer))...)
		if err != nil {
			checkRefusal(t, method, err, trailer)
		} else {
			checkMessage(t, reply)
		}
		return err
	}
}

// checkStream is checkUnary for streams.
func checkStream(t testing.TB) grpc.StreamClientInterceptor {
	return func(ctx context.Context, desc *grpc.StreamDesc, conn *grpc.ClientConn, method string, streamer grpc.Streamer, options ...grpc.CallOption) (grpc.ClientStream, error) {
		stream, err := streamer(ctx, desc, conn, method, options...)
		if err != nil {
			return nil, err
		}
		return &checkedStream{stream, t, method}, nil
	}
}

type checkedStream struct {
	grpc.ClientStream
	t      testing.TB
	method string
}

func (s *checkedStream) RecvMsg(m any) error {
	err := s.ClientStream.RecvMsg(m)
	switch {
	case err == nil:
		checkMessage(s.t, m)
	case !errors.Is(err, io.EOF):
		checkRefusal(s.t, s.method, err, s.Trailer())
	}
	return err
}

// checkMessage looks for games and events in an answer.
func checkMessage(t testing.TB, answer any) {
	m, ok := answer.(proto.Message)
	if !ok {
		return
	}
	switch m := m.(type) {
	case *pb.Game:
		checkGame(t, m)
		return
	case *pb.Event:
		checkEvent(t, m)
		return
	}
	m.ProtoReflect().Range(func(field protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		switch {
		case field.Message() == nil || field.IsMap():
		case field.IsList():
			for i := range v.List().Len() {
				checkMessage(t, v.List().Get(i).Message().Interface())
			}
		default:
			checkMessage(t, v.Message().Interface())
		}
		return true
	})
}

var idForm = regexp.MustCompile(`^[a-z2-7]{26}$`)

func checkGame(t testing.TB, g *pb.Game) {
	over := g.GetStatus() == pb.GameStatus_GAME_STATUS_FINISHED
	assert.Regexp(t, idForm, g.GetId())
	assert.NotEmpty(t, g.GetVariant())
	assert.True(t, over || g.GetStatus() == pb.GameStatus_GAME_STATUS_ACTIVE, "status %v", g.GetStatus())
	assert.Positive(t, g.GetVersion())
	assert.Positive(t, g.GetRulesRevision())
	assert.GreaterOrEqual(t, g.GetWatchers(), int32(0))
	assert.Len(t, g.GetSeedCommitment(), 32)
	assert.Nil(t, g.GetTurnLimit())
	checkTime(t, g.GetCreateTime())
	checkTime(t, g.GetUpdateTime())
	assert.False(t, g.GetUpdateTime().AsTime().Before(g.GetCreateTime().AsTime()))
	checkSeats(t, g.GetSeats())
	checkEnd(t, over, g.GetResult(), g.GetSeed(), g.GetPosition())
	if over {
		sum := sha256.Sum256(g.GetSeed())
		assert.Equal(t, sum[:], g.GetSeedCommitment(), "the revealed seed is the one committed to")
	}
	if g.GetPrivate() {
		assert.False(t, g.GetRanked(), "a private game is not ranked")
	}
	checkPosition(t, g.GetVariant(), g.GetPosition(), over)
	moves := g.GetVersion() - 1 // All but created,
	if r := g.GetResult().GetReason(); r == pb.Result_REASON_RESIGNED || r == pb.Result_REASON_ABANDONED {
		moves-- // and the last.
	}
	assert.Equal(t, moves, g.GetPosition().GetMoveCount())
}

func checkEvent(t testing.TB, e *pb.Event) {
	assert.Regexp(t, idForm, e.GetGameId())
	assert.Positive(t, e.GetVersion())
	checkTime(t, e.GetTime())
	over := e.GetResult() != nil
	seated, moves := true, e.GetVersion()-1
	switch action := e.GetAction().(type) {
	case *pb.Event_Created:
		c := action.Created
		seated = false
		assert.EqualValues(t, 1, e.GetVersion())
		assert.NotEmpty(t, c.GetVariant())
		assert.Len(t, c.GetSeedCommitment(), 32)
		assert.Positive(t, c.GetRulesRevision())
		assert.Nil(t, c.GetTurnLimit())
		checkSeats(t, c.GetSeats())
		checkPosition(t, c.GetVariant(), e.GetPosition(), over)
	case *pb.Event_Moved:
		checkMoved(t, action.Moved, e.GetPosition())
		checkPosition(t, "", e.GetPosition(), over)
	case *pb.Event_Resigned:
		moves--
		assert.True(t, over)
	case *pb.Event_Abandoned:
		moves--
		seated = false
		assert.True(t, over)
	default:
		assert.Fail(t, "no action of a 2048 game", "%v", e)
	}
	assert.Equal(t, seated, e.Seat != nil, "seat in %v", e)
	assert.Zero(t, e.GetSeat())
	assert.Equal(t, moves, e.GetPosition().GetMoveCount())
	checkEnd(t, over, e.GetResult(), e.GetSeed(), e.GetPosition())
}

// checkEnd checks what belongs to an end, and is there only then.
func checkEnd(t testing.TB, over bool, r *pb.Result, seed []byte, p *pb.Position) {
	if !over {
		assert.Nil(t, r)
		assert.Empty(t, seed, "a seed before the end")
		return
	}
	assert.Len(t, seed, 32)
	assert.Contains(t, []pb.Result_Reason{
		pb.Result_REASON_GOAL_REACHED, pb.Result_REASON_NO_MOVES, pb.Result_REASON_RESIGNED, pb.Result_REASON_ABANDONED,
	}, r.GetReason())
	assert.Equal(t, p.GetScores(), r.GetScores())
	var winners []int32
	if p.GetTwenty48().GetGoalReached() {
		winners = []int32{0}
	}
	assert.Equal(t, winners, r.GetWinners())
}

func checkMoved(t testing.TB, m *pb.Moved, p *pb.Position) {
	assert.Contains(t, pb.Direction_name, int32(m.GetDirection()))
	assert.NotZero(t, m.GetDirection())
	assert.GreaterOrEqual(t, m.GetGained(), int32(0))
	assert.LessOrEqual(t, m.GetGained(), p.GetScores()[0])
	assert.Empty(t, m.GetTaken())
	if s := m.GetSpawned(); assert.NotNil(t, s) { // No test gets as far as a goal.
		assert.Contains(t, []int32{2, 4}, s.GetValue())
		assert.Equal(t, s.GetValue(), p.GetTwenty48().GetTiles()[s.GetIndex()])
	}
}

func checkSeats(t testing.TB, seats []*pb.Seat) {
	for i, seat := range seats {
		assert.EqualValues(t, i, seat.GetIndex())
		assert.Empty(t, seat.GetStandIn())
		if p := seat.GetPlayer(); assert.NotNil(t, p) {
			assert.Regexp(t, idForm, p.GetId())
			assert.NotEmpty(t, p.GetName())
			assert.Nil(t, p.GetCreateTime(), "unset in a seat")
		}
	}
	assert.Len(t, seats, 1)
}

// checkPosition checks a position; variant may be empty where it is not known.
func checkPosition(t testing.TB, variant string, p *pb.Position, over bool) {
	b := p.GetTwenty48()
	if !assert.NotNil(t, b) || !assert.Len(t, b.GetTiles(), int(b.GetRows()*b.GetColumns())) {
		return
	}
	assert.Len(t, p.GetScores(), 1)
	assert.Nil(t, p.GetTurnDeadline())
	for _, tile := range b.GetTiles() {
		assert.True(t, tile == 0 || tile >= 2 && tile&(tile-1) == 0, "tile %d", tile)
	}
	if over {
		assert.Nil(t, p.Turn, "nobody's turn at the end")
		assert.Empty(t, b.GetLegalMoves(), "no legal moves at the end")
		return
	}
	assert.True(t, p.Turn != nil && p.GetTurn() == 0, "turn of the one seat")
	if variant != "" && variant != "restless" {
		assert.ElementsMatch(t, slides(b), b.GetLegalMoves(), "legal moves of %v", b)
	}
}

// slides lists the directions in which a tile of the board can move or merge.
func slides(b *pb.Twenty48Board) []pb.Direction {
	var directions []pb.Direction
	tile := func(row, column int32) int32 { return b.GetTiles()[row*b.GetColumns()+column] }
	for d, step := range map[pb.Direction][2]int32{
		pb.Direction_DIRECTION_UP: {-1, 0}, pb.Direction_DIRECTION_DOWN: {1, 0},
		pb.Direction_DIRECTION_LEFT: {0, -1}, pb.Direction_DIRECTION_RIGHT: {0, 1},
	} {
		for row := range b.GetRows() {
			for column := range b.GetColumns() {
				r, c := row+step[0], column+step[1]
				if r < 0 || r >= b.GetRows() || c < 0 || c >= b.GetColumns() || tile(row, column) == 0 {
					continue
				}
				if next := tile(r, c); next == 0 || next == tile(row, column) {
					directions = append(directions, d)
				}
			}
		}
	}
	slices.Sort(directions)
	return slices.Compact(directions)
}

func checkTime(t testing.TB, at *timestamppb.Timestamp) {
	assert.NoError(t, at.CheckValid())
	assert.Zero(t, at.GetNanos()%int32(time.Millisecond), "to the millisecond")
	assert.WithinDuration(t, time.Now(), at.AsTime(), time.Hour)
}
