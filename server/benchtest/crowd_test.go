package benchtest

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// crowd are watchers who read as cheaply as one can, frame by frame, so that
// what is measured is the server and not they.
type crowd struct {
	conns []*crowdConn
}

// crowdConn is one connection of a crowd and its streams.
type crowdConn struct {
	conn    net.Conn
	framer  *http2.Framer
	opened  chan struct{} // closed when every stream has its header
	closing atomic.Bool
	done    chan struct{} // closed when nothing is read any more
	failure error         // why, to be read after done

	streams []place
	// lag counts the events by the milliseconds from their time, which is
	// that of the append, to their receipt. The last is for whatever is more.
	lag [maxLag + 1]atomic.Int64
}

const maxLag = 2000

// place is how far a stream has come.
type place struct {
	seen    atomic.Int64 // events
	version uint64       // of the last, 0 before the first
}

// crowdPlan says how a crowd watches.
type crowdPlan struct {
	// requests of the streams, so many on each connection.
	requests      []*pb.WatchRequest
	perConnection int
	// versioned has every event's version compared with the one before. Bare
	// servers repeat one event.
	versioned bool
	// deaf has nothing read after the headers.
	deaf bool
	// tls encrypts the connections.
	tls bool
}

// sameRequest is the request of n streams.
func sameRequest(request *pb.WatchRequest, n int) []*pb.WatchRequest {
	all := make([]*pb.WatchRequest, n)
	for i := range all {
		all[i] = request
	}
	return all
}

// gather opens a crowd's streams and returns when all of them stand. They end
// with the benchmark or by leave.
func gather(b *testing.B, address string, plan crowdPlan) *crowd {
	b.Helper()
	c := &crowd{}
	for requests := plan.requests; len(requests) > 0; {
		n := min(plan.perConnection, len(requests))
		conn, err := openCrowdConn(address, requests[:n], plan)
		require.NoError(b, err)
		c.conns = append(c.conns, conn)
		requests = requests[n:]
		// A few at a time: what a server does with very many calls at once is
		// not what is measured here.
		require.NoError(b, c.conns[max(0, len(c.conns)-16)].await())
	}
	for _, conn := range c.conns {
		require.NoError(b, conn.await())
	}
	b.Cleanup(func() { c.leave(b) })
	return c
}

// leave closes all connections. A stream that ended before, or a gap, fails the
// benchmark.
func (c *crowd) leave(b *testing.B) {
	b.Helper()
	for _, conn := range c.conns {
		conn.closing.Store(true)
		_ = conn.conn.Close()
	}
	for _, conn := range c.conns {
		<-conn.done
		require.NoError(b, conn.failure)
	}
	c.conns = nil
}

const (
	// window is for whatever a server may send before it is told to go on.
	window = 1 << 30
	// deafWindow is what HTTP/2 begins with.
	deafWindow = 1<<16 - 1
)

func openCrowdConn(address string, requests []*pb.WatchRequest, plan crowdPlan) (*crowdConn, error) {
	conn, err := net.Dial("tcp", address)
	if err != nil {
		return nil, err
	}
	if plan.tls {
		conn = tls.Client(conn, anyCertificate)
	}
	out := bufio.NewWriterSize(conn, 64<<10)
	c := &crowdConn{
		conn: conn, framer: http2.NewFramer(out, bufio.NewReaderSize(conn, 32<<10)),
		opened: make(chan struct{}), done: make(chan struct{}),
		streams: make([]place, len(requests)),
	}
	c.framer.SetReuseFrames()
	_, _ = out.WriteString(http2.ClientPreface)
	settings := []http2.Setting{{ID: http2.SettingEnablePush, Val: 0}}
	if !plan.deaf {
		settings = append(settings, http2.Setting{ID: http2.SettingInitialWindowSize, Val: window})
	}
	_ = c.framer.WriteSettings(settings...)
	if !plan.deaf {
		_ = c.framer.WriteWindowUpdate(0, window-deafWindow)
	}
	var block bytes.Buffer
	headers := hpack.NewEncoder(&block)
	for i, request := range requests {
		block.Reset()
		for _, h := range []hpack.HeaderField{
			{Name: ":method", Value: "POST"},
			{Name: ":scheme", Value: "http"},
			{Name: ":path", Value: pb.GameService_Watch_FullMethodName},
			{Name: ":authority", Value: address},
			{Name: "content-type", Value: "application/grpc"},
			{Name: "user-agent", Value: "crowd"},
			{Name: "te", Value: "trailers"},
		} {
			_ = headers.WriteField(h)
		}
		id := uint32(2*i + 1)
		message, err := proto.Marshal(request)
		if err != nil {
			return nil, err
		}
		if request.AfterVersion != nil {
			c.streams[i].version = uint64(request.GetAfterVersion())
		}
		_ = c.framer.WriteHeaders(http2.HeadersFrameParam{StreamID: id, BlockFragment: block.Bytes(), EndHeaders: true})
		_ = c.framer.WriteData(id, true, append(binary.BigEndian.AppendUint32([]byte{0}, uint32(len(message))), message...))
	}
	if err := out.Flush(); err != nil {
		return nil, err
	}
	go func() {
		defer close(c.done)
		if err := c.read(out, plan); !c.closing.Load() {
			c.failure = err
		}
	}()
	return c, nil
}

// await waits until every stream has its header.
func (c *crowdConn) await() error {
	select {
	case <-c.opened:
		return nil
	case <-c.done:
		return c.failure
	case <-time.After(time.Minute):
		return errors.New("the streams do not open")
	}
}

// read reads until the connection ends, or all headers came and the crowd is
// deaf.
func (c *crowdConn) read(out *bufio.Writer, plan crowdPlan) error {
	opened, unread := 0, uint32(0)
	for {
		frame, err := c.framer.ReadFrame()
		if err != nil {
			return err
		}
		switch frame := frame.(type) {
		case *http2.HeadersFrame:
			if frame.StreamEnded() {
				return fmt.Errorf("stream %d was ended", frame.StreamID)
			}
			if opened++; opened == len(c.streams) {
				close(c.opened)
				if plan.deaf {
					return nil
				}
			}
		case *http2.DataFrame:
			if err := c.receive(&c.streams[frame.StreamID/2], frame.Data(), plan.versioned); err != nil {
				return err
			}
			if unread += frame.Length; unread >= window/2 {
				_ = c.framer.WriteWindowUpdate(0, unread)
				unread = 0
			}
		case *http2.SettingsFrame:
			if !frame.IsAck() {
				_ = c.framer.WriteSettingsAck()
			}
		case *http2.PingFrame:
			if !frame.IsAck() {
				_ = c.framer.WritePing(true, frame.Data)
			}
		case *http2.GoAwayFrame:
			return errors.New("the server goes away")
		case *http2.RSTStreamFrame:
			return fmt.Errorf("stream %d was reset", frame.StreamID)
		}
		if out.Buffered() > 0 {
			if err := out.Flush(); err != nil {
				return err
			}
		}
	}
}

// receive takes a message. Servers send each in a frame of its own, while there
// is room in the window.
func (c *crowdConn) receive(p *place, data []byte, versioned bool) error {
	if len(data) < 5 || int(binary.BigEndian.Uint32(data[1:])) != len(data)-5 {
		return errors.New("a message does not fill its frame")
	}
	data = data[5:]
	if len(data) == 0 {
		return nil // An audience of nobody.
	}
	field, _, n := protowire.ConsumeTag(data)
	switch field {
	case 2: // an event
	case 1:
		if p.version == 0 {
			return nil // The first message of a stream.
		}
		return errors.New("a game came in place of events")
	default:
		return nil
	}
	version, at, err := versionAndTime(data[n:])
	if err != nil {
		return err
	}
	if versioned && p.version > 0 && version != p.version+1 {
		return fmt.Errorf("version %d after %d", version, p.version)
	}
	p.version = version
	c.lag[min(maxLag, max(0, time.Since(at).Milliseconds()))].Add(1)
	p.seen.Add(1)
	return nil
}

// versionAndTime are fields 2 and 3 of an event.
func versionAndTime(data []byte) (version uint64, at time.Time, err error) {
	event, n := protowire.ConsumeBytes(data)
	if n < 0 {
		return 0, at, io.ErrUnexpectedEOF
	}
	var stamp [3]uint64 // by the numbers of Timestamp's fields
	for len(event) > 0 && stamp == [3]uint64{} {
		field, kind, n := protowire.ConsumeTag(event)
		switch field {
		case 2:
			version, _ = protowire.ConsumeVarint(event[n:])
		case 3:
			fields, _ := protowire.ConsumeBytes(event[n:])
			for len(fields) > 0 {
				part, _, m := protowire.ConsumeTag(fields)
				value, v := protowire.ConsumeVarint(fields[m:])
				if part > 2 || v < 0 {
					return 0, at, io.ErrUnexpectedEOF
				}
				stamp[part] = value
				fields = fields[m+v:]
			}
		}
		m := protowire.ConsumeFieldValue(field, kind, event[n:])
		if m < 0 {
			return 0, at, io.ErrUnexpectedEOF
		}
		event = event[n+m:]
	}
	return version, time.Unix(int64(stamp[1]), int64(stamp[2])), nil
}

// size is how many streams there are.
func (c *crowd) size() int {
	n := 0
	for _, conn := range c.conns {
		n += len(conn.streams)
	}
	return n
}

// total is how many events all streams have seen.
func (c *crowd) total() int64 {
	total := int64(0)
	for _, conn := range c.conns {
		for i := range conn.streams {
			total += conn.streams[i].seen.Load()
		}
	}
	return total
}

// least is how many events the slowest stream has seen.
func (c *crowd) least() int64 {
	least := c.conns[0].streams[0].seen.Load()
	for _, conn := range c.conns {
		for i := range conn.streams {
			least = min(least, conn.streams[i].seen.Load())
		}
	}
	return least
}

// lags returns how many events took how many milliseconds, and begins anew.
func (c *crowd) lags() []int64 {
	counts := make([]int64, maxLag+1)
	for _, conn := range c.conns {
		for i := range conn.lag {
			counts[i] += conn.lag[i].Swap(0)
		}
	}
	return counts
}

// percentile is the bucket below which the given share of the counts lies.
func percentile(counts []int64, share float64) float64 {
	total, below := int64(0), int64(0)
	for _, n := range counts {
		total += n
	}
	for i, n := range counts {
		if below += n; float64(below) >= share*float64(total) {
			return float64(i)
		}
	}
	return float64(len(counts))
}

// perSecond calls publish for a while, the slowest stream never further behind
// than allowed, and returns how many events arrived in a second.
func (c *crowd) perSecond(b *testing.B, publish func() error) float64 {
	b.Helper()
	before, began := c.least(), time.Now()
	published := int64(0)
	for time.Since(began) < span {
		c.awaitLeast(b, before+published-ahead+1)
		require.NoError(b, publish())
		published++
	}
	c.awaitLeast(b, before+published)
	return float64(published) * float64(c.size()) / time.Since(began).Seconds()
}

// awaitLeast waits until every stream has seen so many events.
func (c *crowd) awaitLeast(b *testing.B, events int64) {
	b.Helper()
	c.await(b, func() bool { return c.least() >= events })
}

// await waits until what streams have seen is enough.
func (c *crowd) await(b *testing.B, enough func() bool) {
	b.Helper()
	look := time.NewTicker(time.Millisecond)
	defer look.Stop()
	late := time.After(time.Minute)
	for !enough() {
		select {
		case <-look.C:
		case <-late:
			b.Fatal("events do not arrive")
		}
		for _, conn := range c.conns {
			select {
			case <-conn.done:
				b.Fatal("a connection of watchers ended: ", conn.failure)
			default:
			}
		}
	}
}
