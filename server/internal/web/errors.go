package web

import (
	"errors"
	"net/http"
	"strconv"
	"time"

	"connectrpc.com/connect"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
)

// toConnect returns the error of a call by Connect for that of an interceptor, with the
// same code, message and details. If those say when to retry, Retry-After does, too.
func toConnect(err error) error {
	if err == nil {
		return nil
	}
	if ours := new(connect.Error); errors.As(err, &ours) {
		return ours
	}
	s := status.Convert(err)
	e := connect.NewError(connect.Code(s.Code()), errors.New(s.Message()))
	for _, detail := range s.Details() {
		m, ok := detail.(proto.Message)
		if !ok {
			continue
		}
		if d, err := connect.NewErrorDetail(m); err == nil {
			e.AddDetail(d)
		}
		if retry, ok := m.(*errdetails.RetryInfo); ok {
			e.Meta().Set("Retry-After", seconds(retry.GetRetryDelay().AsDuration()))
		}
	}
	return e
}

// seconds formats a duration as Retry-After takes it, rounded up.
func seconds(d time.Duration) string {
	return strconv.Itoa(int((d + time.Second - 1) / time.Second))
}

// errorWriter writes errors of handlers that are not calls as those of unary calls.
var errorWriter = connect.NewErrorWriter()

// writeError answers a request with an error, in the form of a unary call by Connect.
func writeError(w http.ResponseWriter, r *http.Request, err error) {
	// The writer's form follows from the request's content type.
	r.Header.Set("Content-Type", "application/json")
	_ = errorWriter.Write(w, r, toConnect(err))
}
