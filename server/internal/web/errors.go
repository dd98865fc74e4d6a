package web

import (
	"encoding/json"
	"errors"
	"math"
	"net/http"
	"strconv"

	"connectrpc.com/connect"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/status"

	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/server/internal/rpc"
)

// toConnect converts an interceptor's error to a Connect error with the same code,
// message and details. If the details include a retry delay, it also adds a Retry-After
// header and the trailer that gRPC clients' retry policies understand.
func toConnect(err error) error {
	if err == nil {
		return nil
	}
	if already := new(connect.Error); errors.As(err, &already) {
		return already
	}
	s := status.Convert(err)
	e := connect.NewError(connect.Code(s.Code()), errors.New(s.Message()))
	for _, detail := range s.Proto().GetDetails() {
		d, _ := connect.NewErrorDetail(detail) // cannot fail, because the detail is encoded already
		e.AddDetail(d)
		if retry := new(errdetails.RetryInfo); detail.UnmarshalTo(retry) == nil {
			delay := retry.GetRetryDelay().AsDuration()
			e.Meta().Set("Retry-After", strconv.Itoa(int(math.Ceil(delay.Seconds()))))
			e.Meta().Set(rpc.Pushback, strconv.FormatInt(delay.Milliseconds(), 10))
		}
	}
	return e
}

// refusal returns an error of the contract with a reason.
func refusal(code connect.Code, info *errdetails.ErrorInfo, message string) *connect.Error {
	info.Domain = pb.ErrorDomain
	e := connect.NewError(code, errors.New(message))
	if d, err := connect.NewErrorDetail(info); err == nil {
		e.AddDetail(d)
	}
	return e
}

// tooLarge returns the error for a message that exceeds limit, in bytes.
func tooLarge(limit int) *connect.Error {
	text := strconv.Itoa(limit)
	return refusal(connect.CodeInvalidArgument, &errdetails.ErrorInfo{
		Reason: pb.ReasonMessageTooLarge, Metadata: map[string]string{"limit_name": "message_bytes", "limit": text},
	}, "the message is larger than "+text+" bytes")
}

// errorWriter writes errors in the format of the request's protocol.
var errorWriter = connect.NewErrorWriter()

// WriteError writes an error in the format of the call's protocol, or in the format of
// unary Connect calls if the request is not a call.
func WriteError(w http.ResponseWriter, r *http.Request, err error) {
	if r.Header.Get("Origin") != "" && isShared(r.URL.Path) {
		share(w) // crossOrigin calls share too, but the request may have failed before it got there.
	}
	w.Header().Set("X-Content-Type-Options", "nosniff")
	if !isCall(r.URL.Path) {
		// errorWriter derives the format from the request's content type.
		r.Header.Set("Content-Type", "application/json")
	}
	_ = errorWriter.Write(w, r, toConnect(err))
}

// writeStatus responds with an HTTP status to a request that is not a valid call. The body
// is an error in the format of unary Connect calls.
func writeStatus(w http.ResponseWriter, status int, code connect.Code, message string) {
	w.Header().Set("Content-Type", "application/json")
	body, _ := json.Marshal(map[string]string{"code": code.String(), "message": message})
	w.WriteHeader(status)
	_, _ = w.Write(body)
}
