package admission

import "time"

// A gRPC call can be 15 bytes long, so one client could send millions of them a second. The
// server would start a goroutine for each, and all other calls would wait for their memory
// and processor time. Each address therefore has a rate of bytes, and a number of calls that
// the server works on at once. While it exceeds either, its connections take turns.
const (
	// bytesPerSecond is how much an address may send, with a burst of burstSeconds' worth. A
	// refused or canceled call counts as refusedBytes more, and a TLS handshake, which takes up
	// to a millisecond of processor time, as handshakeBytes, as long as the address owes less
	// than a second's worth.
	bytesPerSecond = 8 << 20
	burstSeconds   = 2
	refusedBytes   = 2 << 10
	handshakeBytes = 16 << 10
	// maxBusy is how many calls of an address the server works on at once. Each callBytes of
	// input that have not been parsed count as one call.
	maxBusy   = 512
	callBytes = 64
	// maxInput is the number of bytes that a connection may send in one turn. It waits for
	// at most maxTurnWait, and checks every turnInterval whether the address may send more.
	maxInput     = 4 << 10
	maxTurnWait  = 5 * time.Second
	turnInterval = time.Millisecond
)

// awaitTurn waits until the server may parse bytes that the client has sent, and counts them
// until parsed is called. It returns false if the connection has been closed. Otherwise the
// server would work at once on the calls of all connections that a client opened and closed. It
// also returns false if a handshake has waited for too long.
func (c *conn) awaitTurn(bytes int) bool {
	if c.proxy {
		return true
	}
	if !c.from.take(bytes) && !c.queue(bytes) {
		if c.handshaking.Load() {
			return false
		}
		c.from.parsing.Add(int64(bytes))
	}
	c.parsing.Store(int64(bytes))
	select {
	case <-c.ended: // The connection may have been closed before it counted the bytes.
		c.parsed()
		return false
	default:
		return true
	}
}

// queue waits until it is the connection's turn and take succeeds. It returns false if it has
// waited for too long.
func (c *conn) queue(bytes int) bool {
	timeout := time.After(maxTurnWait)
	select {
	case c.from.turn <- struct{}{}:
		defer func() { <-c.from.turn }()
	case <-timeout:
		return false
	case <-c.ended:
		return false
	}
	again := time.NewTicker(turnInterval)
	defer again.Stop()
	for !c.from.take(bytes) {
		select {
		case <-again.C:
		case <-timeout:
			return false
		case <-c.ended:
			return false
		}
	}
	return true
}

// parsed records that the server has parsed all that it has read from the connection.
func (c *conn) parsed() { c.from.parsing.Add(-c.parsing.Swap(0)) }

// take counts bytes from the address as being parsed, unless it has to wait with them.
func (a *addressState) take(bytes int) bool {
	parsing := a.parsing.Add(int64(bytes))
	if a.busy.Load()+parsing/callBytes <= maxBusy && a.input.AllowN(time.Now(), bytes) {
		return true
	}
	a.parsing.Add(-int64(bytes))
	return false
}

// charge counts bytes in addition to those that the client has sent.
func (c *conn) charge(bytes int) {
	if now := time.Now(); !c.proxy && c.from.input.TokensAt(now) > -bytesPerSecond {
		c.from.input.ReserveN(now, bytes)
	}
}
