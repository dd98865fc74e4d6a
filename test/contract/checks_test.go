package contract

import (
	"bytes"
	"crypto/sha256"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/reflect/protoreflect"

	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// reasons is the contract's error table.
var reasons = map[string]struct {
	code     codes.Code
	metadata []string // keys that must be present
	optional []string // keys that may be present
	retry    bool
}{
	pb.ReasonVersionConflict:     {code: codes.Aborted, metadata: []string{"version"}},
	pb.ReasonIllegalMove:         {code: codes.FailedPrecondition, metadata: []string{"detail"}},
	pb.ReasonNotYourTurn:         {code: codes.FailedPrecondition},
	pb.ReasonGameOver:            {code: codes.FailedPrecondition},
	pb.ReasonGameNotStarted:      {code: codes.FailedPrecondition, optional: []string{"challenge_id", "open_time"}},
	pb.ReasonGameTooLong:         {code: codes.FailedPrecondition, metadata: []string{"limit", "limit_name"}},
	pb.ReasonUndoNotAllowed:      {code: codes.FailedPrecondition},
	pb.ReasonSeatTaken:           {code: codes.FailedPrecondition},
	pb.ReasonNameTaken:           {code: codes.AlreadyExists, metadata: []string{"name"}},
	pb.ReasonGameNotFound:        {code: codes.NotFound},
	pb.ReasonPlayerNotFound:      {code: codes.NotFound},
	pb.ReasonVariantNotFound:     {code: codes.NotFound},
	pb.ReasonNoScore:             {code: codes.NotFound},
	pb.ReasonNotSeated:           {code: codes.PermissionDenied},
	pb.ReasonBadToken:            {code: codes.Unauthenticated},
	pb.ReasonBadCredential:       {code: codes.Unauthenticated},
	pb.ReasonNotOverSSH:          {code: codes.PermissionDenied},
	pb.ReasonKeyNotLinked:        {code: codes.Unauthenticated},
	pb.ReasonKeyTaken:            {code: codes.AlreadyExists},
	pb.ReasonKeyNotFound:         {code: codes.NotFound},
	pb.ReasonTooManyKeys:         {code: codes.ResourceExhausted},
	pb.ReasonRenamedRecently:     {code: codes.FailedPrecondition, metadata: []string{"until"}},
	pb.ReasonLimitedSession:      {code: codes.PermissionDenied},
	pb.ReasonSessionLinkNotFound: {code: codes.NotFound},
	pb.ReasonSessionNotFound:     {code: codes.NotFound},
	pb.ReasonTooManySessions:     {code: codes.ResourceExhausted},
	pb.ReasonReactionsOff:        {code: codes.FailedPrecondition},
	pb.ReasonRateLimited:         {code: codes.ResourceExhausted, metadata: []string{"limit", "limit_name"}, retry: true},
	pb.ReasonMessageTooLarge:     {code: codes.InvalidArgument, metadata: []string{"limit", "limit_name"}},
	pb.ReasonOriginNotAllowed:    {code: codes.PermissionDenied, metadata: []string{"origin"}},
	pb.ReasonGameDamaged:         {code: codes.DataLoss, metadata: []string{"version"}},
	pb.ReasonServerUnavailable:   {code: codes.Unavailable, retry: true},
	pb.ReasonStorageUnavailable:  {code: codes.Unavailable, retry: true},
	pb.ReasonChallengeNotFound:   {code: codes.NotFound},
	pb.ReasonChallengeOpen:       {code: codes.FailedPrecondition, metadata: []string{"challenge_id", "close_time"}},
	pb.ReasonChallengeNotOpen:    {code: codes.FailedPrecondition, metadata: []string{"challenge_id"}, optional: []string{"open_time"}},
	pb.ReasonChallengeClosed:     {code: codes.FailedPrecondition},
	pb.ReasonChallengeStarted:    {code: codes.FailedPrecondition},
	pb.ReasonChallengeFull:       {code: codes.FailedPrecondition},
	pb.ReasonNotCreator:          {code: codes.PermissionDenied},
	pb.ReasonNotEntered:          {code: codes.FailedPrecondition},
	pb.ReasonTooFewEntrants:      {code: codes.FailedPrecondition},
	pb.ReasonSeedHidden:          {code: codes.FailedPrecondition, optional: []string{"challenge_id", "close_time"}},
}

// pushback is the trailer that gRPC's built-in retry policy understands.
const pushback = "grpc-retry-pushback-ms"

// refusal holds the details of an error.
type refusal struct {
	code   codes.Code
	fields []string // fields of a BadRequest
	info   *errdetails.ErrorInfo
	retry  *errdetails.RetryInfo
}

func refusalOf(t testing.TB, err error) refusal {
	s, ok := status.FromError(err)
	assert.True(t, ok, "%v is not a status", err)
	r := refusal{code: s.Code()}
	for _, detail := range s.Details() {
		switch d := detail.(type) {
		case *errdetails.BadRequest:
			for _, v := range d.GetFieldViolations() {
				assert.NotEmpty(t, v.GetDescription())
				r.fields = append(r.fields, v.GetField())
			}
		case *errdetails.ErrorInfo:
			assert.Nil(t, r.info, "more than one ErrorInfo")
			r.info = d
		case *errdetails.RetryInfo:
			r.retry = d
		default:
			assert.Fail(t, "unknown detail", "%v", detail)
		}
	}
	return r
}

// internals matches internal details that could leak from the errors of libraries. It matches
// short words only as a whole, because an id may contain them.
var internals = regexp.MustCompile(`(?i)redis|\bdial\b|\btcp\b|127\.0\.0\.1|\bEOF\b|context|\bERR\b|goroutine|\.go\b|\.lua\b|%!|panic`)

// checkRefusal checks an error against the contract's error table. An error from a handler must
// never be INTERNAL or UNKNOWN, and never lack its details.
func checkRefusal(t testing.TB, method string, err error, trailer metadata.MD) {
	r := refusalOf(t, err)
	message := status.Convert(err).Message()
	assert.NotEmpty(t, message, "%s: no message", method)
	switch r.code {
	case codes.Canceled, codes.DeadlineExceeded:
		return // caused by the test itself
	}
	assert.NotRegexp(t, internals, message, "%s: internal text in the message", method)
	switch r.code {
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
			if !slices.Contains(row.optional, key) {
				keys = append(keys, key)
			}
			assert.NotEmpty(t, value, "%s: metadata %s", method, key)
		}
		assert.ElementsMatch(t, row.metadata, keys, "%s: metadata of %v", method, err)
	}
	want := []string(nil)
	if r.retry != nil {
		delay := r.retry.GetRetryDelay().AsDuration()
		assert.Positive(t, delay)
		want = []string{strconv.FormatInt(delay.Milliseconds(), 10)}
	}
	// A call that is refused before it has a handler has no trailers.
	if got := trailer.Get(pushback); len(got) > 0 || status.Code(err) != codes.ResourceExhausted {
		assert.Equal(t, want, got, "%s: %v", method, err)
	}
}

// wantReason requires an error from the table and returns its metadata.
func wantReason(t testing.TB, err error, reason string) map[string]string {
	t.Helper()
	require.Error(t, err, "not refused with %s", reason)
	r := refusalOf(t, err)
	require.Equal(t, reason, r.info.GetReason(), "%v", err)
	require.Equal(t, reasons[reason].code, r.code)
	if name, ok := r.info.GetMetadata()["limit_name"]; ok {
		fields := (&pb.Limits{}).ProtoReflect().Descriptor().Fields()
		require.NotNil(t, fields.ByName(protoreflect.Name(name)), "%q is not a field of Limits", name)
	}
	return r.info.GetMetadata()
}

// wantField requires an error about a field.
func wantField(t testing.TB, err error, field string) {
	t.Helper()
	require.Error(t, err, "not refused for %s", field)
	require.Equal(t, codes.InvalidArgument, status.Code(err), "%v", err)
	require.Equal(t, []string{field}, refusalOf(t, err).fields)
}

// wanted requires the error of a call: a reason, VERSION_CONFLICT and a version, or a field.
func wanted(t testing.TB, err error, want string) {
	t.Helper()
	reason, version, conflict := strings.Cut(want, " ")
	switch {
	case conflict:
		require.Equal(t, version, wantReason(t, err, reason)["version"])
	case strings.ToUpper(want) == want:
		wantReason(t, err, want)
	default:
		wantField(t, err, want)
	}
}

var idForm = regexp.MustCompile(`^[a-z2-7]{26}$`)

// checkMessage checks all games, events and challenges in a response.
func checkMessage(t testing.TB, m protoreflect.Message) {
	switch m := m.Interface().(type) {
	case *pb.Game:
		checkGame(t, m)
		return
	case *pb.Event:
		checkEvent(t, m)
		return
	case *pb.Challenge:
		over := m.GetStatus() == challengeOver || m.GetKind() == rematch
		checkSeed(t, over, m.GetSeed(), m.GetSeedCommitment())
		assert.Equal(t, m.GetOpenTime() == nil, m.GetStatus() == raceWaiting)
	}
	m.Range(func(field protoreflect.FieldDescriptor, v protoreflect.Value) bool {
		switch {
		case field.Message() == nil || field.IsMap():
		case field.IsList():
			for i := range v.List().Len() {
				checkMessage(t, v.List().Get(i).Message())
			}
		default:
			checkMessage(t, v.Message())
		}
		return true
	})
}

// checkSeed requires that a seed is hidden before the end, and matches its commitment.
func checkSeed(t testing.TB, over bool, seed, commitment []byte) {
	if len(seed) == 0 {
		return
	}
	assert.True(t, over, "a seed before the end")
	sum := sha256.Sum256(seed)
	assert.True(t, commitment == nil || bytes.Equal(sum[:], commitment), "the revealed seed does not match the commitment")
}

// checkGame checks the rules that apply to every game.
func checkGame(t testing.TB, g *pb.Game) {
	over := g.GetStatus() == finished
	assert.Regexp(t, idForm, g.GetId())
	assert.Positive(t, g.GetVersion())
	assert.Len(t, g.GetSeedCommitment(), 32)
	assert.Equal(t, over, g.GetResult() != nil)
	checkSeed(t, over, g.GetSeed(), g.GetSeedCommitment())
	p := g.GetPosition()
	assert.Equal(t, g.GetStatus() == active, p.Turn != nil, "only an active game has a turn")
	assert.Len(t, g.GetSeats(), len(p.GetScores()))
	humans, botsOnly := 0, true
	for i, seat := range g.GetSeats() {
		assert.EqualValues(t, i, seat.GetIndex())
		assert.NotNil(t, seat.GetOccupant())
		botsOnly = botsOnly && seat.GetBot() != ""
		if seat.GetPlayer() != nil {
			humans++
		}
	}
	assert.Equal(t, botsOnly && g.GetChallengeId() == "", g.GetExhibition())
	if g.GetRanked() {
		assert.True(t, !g.GetPrivate() && humans <= 1 && !botsOnly, "ranked: %v", g)
	}
}

// checkEvent checks the rules that apply to every event.
func checkEvent(t testing.TB, e *pb.Event) {
	p, over := e.GetPosition(), e.GetResult() != nil
	assert.Regexp(t, idForm, e.GetGameId())
	assert.NotNil(t, e.GetAction())
	assert.Equal(t, e.GetVersion() == 1, e.GetCreated() != nil)
	assert.Equal(t, e.GetCreated() == nil && e.GetAbandoned() == nil, e.Seat != nil, "seat in %v", e)
	assert.Less(t, p.GetMoveCount(), e.GetVersion())
	checkSeed(t, over, e.GetSeed(), nil)
	if over {
		assert.Nil(t, p.Turn, "a turn after the end")
		assert.Equal(t, p.GetScores(), e.GetResult().GetScores())
	}
}
