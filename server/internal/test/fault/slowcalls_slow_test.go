//go:build slow

package fault

import (
	"bytes"
	"context"
	"encoding/binary"
	"net"
	"net/http"

	"google.golang.org/protobuf/proto"
)

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
