//go:build slow

package fault

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"

	spb "google.golang.org/genproto/googleapis/rpc/status"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// slowStream is a Watch over plain HTTP/2.
type slowStream struct {
	response *http.Response
	client   *http.Client
}

// watchWith opens a Watch, and reads nothing until Recv is called. The stream ends when ctx
// does, or when Recv returns an error.
func watchWith(ctx context.Context, client *http.Client, addr string, request *pb.WatchRequest) (*slowStream, error) {
	response, err := slowCall(ctx, client, addr, pb.GameService_Watch_FullMethodName, request)
	if err != nil {
		return nil, err
	}
	return &slowStream{response, client}, nil
}

// slowClient returns a client with its own connection and small buffers.
func slowClient(dialer *net.Dialer) *http.Client {
	protocols := new(http.Protocols)
	protocols.SetUnencryptedHTTP2(true)
	return &http.Client{Transport: &http.Transport{
		DialContext: dialer.DialContext, Protocols: protocols, HTTP2: &http.HTTP2Config{MaxReceiveBufferPerStream: slowWindow},
	}}
}

// slowCall makes a call and returns as soon as the response begins.
func slowCall(ctx context.Context, client *http.Client, addr, method string, request proto.Message) (*http.Response, error) {
	body, err := proto.Marshal(request)
	if err != nil {
		return nil, err
	}
	framed := binary.BigEndian.AppendUint32([]byte{0}, uint32(len(body)))
	call, err := http.NewRequestWithContext(ctx, http.MethodPost,
		"http://"+addr+method, bytes.NewReader(append(framed, body...)))
	if err != nil {
		return nil, err
	}
	call.Header.Set("Content-Type", "application/grpc")
	call.Header.Set("TE", "trailers")
	return client.Do(call)
}

// Recv implements updateStream.
func (s *slowStream) Recv() (*pb.WatchResponse, error) {
	message, err := s.read()
	if err != nil {
		_ = s.response.Body.Close()
		s.client.CloseIdleConnections()
	}
	return message, err
}

func (s *slowStream) read() (*pb.WatchResponse, error) {
	var head [5]byte // compression flag and length
	if _, err := io.ReadFull(s.response.Body, head[:]); err != nil {
		return nil, s.ended(err)
	}
	if head[0] != 0 {
		return nil, errors.New("unexpected compressed message")
	}
	body := make([]byte, binary.BigEndian.Uint32(head[1:]))
	if _, err := io.ReadFull(s.response.Body, body); err != nil {
		return nil, err
	}
	message := &pb.WatchResponse{}
	return message, proto.Unmarshal(body, message)
}

// ended returns io.EOF for a stream that ended with OK, or else its status.
func (s *slowStream) ended(err error) error {
	if !errors.Is(err, io.EOF) {
		return err
	}
	value := s.response.Trailer.Get("Grpc-Status")
	if value == "" {
		value = s.response.Header.Get("Grpc-Status")
	}
	code, err := strconv.Atoi(value)
	if err != nil {
		return fmt.Errorf("a stream without a status: %w", err)
	}
	if code == int(codes.OK) {
		return io.EOF
	}
	details := &spb.Status{Code: int32(code), Message: s.response.Trailer.Get("Grpc-Message")}
	// Without this header, Unmarshal would make the status OK.
	if encoded := s.response.Trailer.Get("Grpc-Status-Details-Bin"); encoded != "" {
		decoded, err := base64.RawStdEncoding.DecodeString(encoded)
		if err != nil {
			return err
		}
		if err := proto.Unmarshal(decoded, details); err != nil {
			return err
		}
	}
	return status.ErrorProto(details)
}
