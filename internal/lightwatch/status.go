package lightwatch

import (
	"encoding/base64"
	"encoding/json"
	"net/url"
	"strconv"
	"strings"

	"golang.org/x/net/http2"
	spb "google.golang.org/genproto/googleapis/rpc/status"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"
)

// errNoTrailers means that a stream was truncated. Callers recognize it by its message, which is
// the one that gRPC's client uses.
var errNoTrailers = status.Error(codes.Internal, "server closed the stream without sending trailers")

// headersStatus returns the error in a stream's trailers, or nil if the stream is complete.
func headersStatus(frame *http2.MetaHeadersFrame) error {
	var code, message, details string
	for _, f := range frame.RegularFields() {
		switch f.Name {
		case "grpc-status":
			code = f.Value
		case "grpc-message":
			message = f.Value
		case "grpc-status-details-bin":
			details = f.Value
		}
	}
	n, err := strconv.ParseUint(code, 10, 32)
	answer := frame.PseudoValue("status") // set in headers, empty in trailers
	switch {
	case err != nil && answer != "" && answer != "200":
		return httpStatus(answer)
	case err != nil:
		return errNoTrailers
	case codes.Code(n) == codes.OK:
		return nil
	}
	whole := &spb.Status{}
	raw, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(details, "="))
	if err == nil && len(raw) > 0 && proto.Unmarshal(raw, whole) == nil && whole.GetCode() == int32(n) {
		return status.ErrorProto(whole)
	}
	if text, err := url.PathUnescape(message); err == nil {
		message = text
	}
	return status.Error(codes.Code(n), message)
}

// httpStatus returns the status that gRPC clients derive from the HTTP status of a response without
// gRPC's headers, such as one from a proxy.
func httpStatus(answer string) error {
	code := codes.Unknown
	switch answer {
	case "400":
		code = codes.Internal
	case "401":
		code = codes.Unauthenticated
	case "403":
		code = codes.PermissionDenied
	case "404":
		code = codes.Unimplemented
	case "429", "502", "503", "504":
		code = codes.Unavailable
	}
	return status.Errorf(code, "unexpected HTTP status code received from server: %s", answer)
}

// resetStatus returns the status of a stream that was reset.
func resetStatus(code http2.ErrCode) error {
	c := codes.Internal
	switch code {
	case http2.ErrCodeRefusedStream:
		c = codes.Unavailable
	case http2.ErrCodeCancel:
		c = codes.Canceled
	case http2.ErrCodeEnhanceYourCalm:
		c = codes.ResourceExhausted
	}
	return status.Errorf(c, "stream terminated by RST_STREAM with error code: %v", code)
}

// answerStatus returns the error in the body of an HTTP response, or an error derived from the HTTP
// status if the body contains none.
func answerStatus(answer int, body []byte) error {
	var e struct {
		Code, Message string
		Details       []struct{ Type, Value string }
	}
	var code codes.Code
	if json.Unmarshal(body, &e) != nil || code.UnmarshalJSON([]byte(strconv.Quote(strings.ToUpper(e.Code)))) != nil {
		return httpStatus(strconv.Itoa(answer))
	}
	whole := &spb.Status{Code: int32(code), Message: e.Message}
	for _, d := range e.Details {
		if value, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(d.Value, "=")); err == nil {
			whole.Details = append(whole.Details, &anypb.Any{TypeUrl: "type.googleapis.com/" + d.Type, Value: value})
		}
	}
	return status.ErrorProto(whole)
}
