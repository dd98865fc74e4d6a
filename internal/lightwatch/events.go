package lightwatch

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// Events is a stream of Server-Sent Events, the format that browsers use to watch a game. Each
// stream has its own connection.
type Events struct {
	conn     net.Conn
	in       *bufio.Reader
	receiver Receiver
	long     []byte // a line longer than the reader's buffer
	update   Update
	closed   atomic.Bool // set by Close
	done     chan struct{}
}

// recordBuffer is the size of the read buffer, in bytes. In most games, the record of an event fits
// in it.
const recordBuffer = 4 << 10

// WatchEvents connects to "host:port" and reads a game's events until the game ends or Close
// is called. If it fails, it returns a status error and never calls the receiver.
func WatchEvents(ctx context.Context, address string, options Options, request *pb.WatchRequest, receiver Receiver) (*Events, error) {
	ctx, cancel := context.WithTimeout(ctx, handshake)
	defer cancel()
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, unreachable(ctx, err)
	}
	if tcp, ok := conn.(*net.TCPConn); ok && options.Window > 0 {
		_ = tcp.SetReadBuffer(int(options.Window))
	}
	host := cmp.Or(options.Authority, address)
	if options.TLS != nil {
		encrypted, err := encrypt(ctx, conn, options.TLS, host, "http/1.1")
		if err != nil {
			_ = conn.Close()
			return nil, unreachable(ctx, err)
		}
		conn = encrypted
	}
	if _, err := io.WriteString(conn, eventsRequest(host, options.UserAgent, request)); err != nil {
		_ = conn.Close()
		return nil, unreachable(ctx, err)
	}
	e := &Events{conn: conn, in: bufio.NewReaderSize(conn, recordBuffer), receiver: receiver, done: make(chan struct{})}
	go e.run()
	return e, nil
}

// eventsRequest returns the HTTP request for a game's events.
func eventsRequest(host, userAgent string, request *pb.WatchRequest) string {
	var b strings.Builder
	fmt.Fprintf(&b, "GET /g/%s/events?", request.GetGameId())
	if request.AfterVersion != nil {
		fmt.Fprintf(&b, "after_version=%d&", request.GetAfterVersion())
	}
	if request.GetEveryEvent() {
		b.WriteString("every_event=1&")
	}
	if request.GetPreview() {
		b.WriteString("preview=1&")
	}
	fmt.Fprintf(&b, " HTTP/1.1\r\nHost: %s\r\nUser-Agent: %s\r\nAccept: text/event-stream\r\n\r\n", host, userAgent)
	return b.String()
}

// Close ends the stream and waits until Ended has been called on its receiver.
func (e *Events) Close() {
	e.closed.Store(true)
	cut(e.conn)
	<-e.done
}

func (e *Events) run() {
	defer close(e.done)
	err := e.begin()
	if err == nil {
		e.receiver.Opened()
		err = e.read()
	}
	cut(e.conn)
	var lost net.Error
	switch {
	case e.closed.Load():
		err = status.Error(codes.Canceled, "the connection was closed")
	case errors.Is(err, errEnd):
		err = nil
	case errors.Is(err, io.EOF), errors.As(err, &lost):
		err = status.Error(codes.Unavailable, "error reading from server: "+err.Error())
	}
	e.receiver.Ended(err)
}

// errEnd means that the server has sent all events of a finished game.
var errEnd = errors.New("the end of the game")

// begin reads the header of the response.
func (e *Events) begin() error {
	answer, err := http.ReadResponse(e.in, nil)
	if err != nil {
		return err
	}
	switch answer.StatusCode {
	case http.StatusOK:
		return nil // The body continues until the connection closes.
	case http.StatusNoContent:
		return errEnd
	}
	defer func() { _ = answer.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(answer.Body, maxHeaders))
	if err != nil {
		return err
	}
	return answerStatus(answer.StatusCode, body)
}

// read reads records until the stream ends.
func (e *Events) read() error {
	version, isEnd := int32(0), false
	for {
		line, err := e.line()
		if err != nil {
			return err
		}
		name, value, _ := bytes.Cut(line, []byte(": "))
		switch string(name) {
		case "id":
			n, err := strconv.ParseInt(string(value), 10, 32)
			if err != nil {
				return errMalformed
			}
			version = int32(n)
		case "event":
			isEnd = string(value) == "end"
		case "data":
			if isEnd {
				return errEnd
			}
			e.update.decodeJSON(value, version)
			if err := e.receiver.Update(&e.update); err != nil {
				return err
			}
			version = 0
		}
	}
}

// line returns the next line without its line ending. The returned line is valid until the next
// call.
func (e *Events) line() ([]byte, error) {
	line, err := e.in.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) {
		e.long = append(e.long[:0], line...)
		for errors.Is(err, bufio.ErrBufferFull) && len(e.long) <= maxMessage {
			line, err = e.in.ReadSlice('\n')
			e.long = append(e.long, line...)
		}
		line = e.long
	}
	if err != nil {
		return nil, err
	}
	return line[:len(line)-1], nil
}

// Byte sequences that mark the fields of an Update in a JSON message.
var (
	jsonGame   = []byte(`{"game":{"id":"`)
	jsonEvent  = []byte(`{"event":{"gameId":"`)
	jsonTime   = []byte(`"time":"`)
	jsonResult = []byte(`"result":{`)
	jsonOver   = []byte(`"status":"GAME_STATUS_FINISHED"`)
)

// decodeJSON is like decode but takes a JSON message, whose fields are in the order of the
// contract. version comes from the message's record.
func (u *Update) decodeJSON(message []byte, version int32) {
	*u = Update{Version: version}
	if rest, ok := bytes.CutPrefix(message, jsonGame); ok {
		u.Kind, u.Over = Game, bytes.Contains(rest, jsonOver)
		u.GameID, _, _ = bytes.Cut(rest, []byte{'"'})
		return
	}
	rest, ok := bytes.CutPrefix(message, jsonEvent)
	if !ok {
		return
	}
	u.Kind, u.Over = Event, bytes.Contains(rest, jsonResult)
	u.GameID, rest, _ = bytes.Cut(rest, []byte{'"'})
	if _, rest, ok = bytes.Cut(rest, jsonTime); ok {
		text, _, _ := bytes.Cut(rest, []byte{'"'})
		if at, err := time.Parse(time.RFC3339Nano, string(text)); err == nil {
			u.seconds, u.nanos = uint64(at.Unix()), uint64(at.Nanosecond())
		}
	}
}
