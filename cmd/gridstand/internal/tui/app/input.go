package app

import (
	"bytes"
	"context"
	"io"
	"time"

	tea "charm.land/bubbletea/v2"
	uv "github.com/charmbracelet/ultraviolet"
)

// inputPause is the time without input after which readInput drops its parser.
const inputPause = 10 * time.Second

// readInput parses the input of a remote terminal and sends its events until the input ends
// or ctx is done. Bubble Tea would keep a parser for the whole session, with a table of key
// sequences that takes 135 kB. readInput keeps one only while the user presses keys, so
// that users who only watch need none.
func readInput(ctx context.Context, in io.Reader, term string, send func(tea.Msg)) {
	chunks := make(chan []byte)
	go func() {
		defer close(chunks)
		buffer := make([]byte, 256)
		for {
			n, err := in.Read(buffer)
			if err != nil {
				return
			}
			select {
			case chunks <- bytes.Clone(buffer[:n]):
			case <-ctx.Done():
				return
			}
		}
	}()
	for {
		select {
		case <-ctx.Done():
			return
		case chunk, ok := <-chunks:
			if !ok {
				return
			}
			(&burst{ctx: ctx, unread: chunk, more: chunks}).parse(term, send)
		}
	}
}

// burst is the input from a key press until the next pause.
type burst struct {
	ctx    context.Context
	unread []byte
	more   <-chan []byte
}

// parse sends the events of the burst, and returns at its end.
func (b *burst) parse(term string, send func(tea.Msg)) {
	events, sent := make(chan uv.Event), make(chan struct{})
	go func() {
		defer close(sent)
		for e := range events {
			send(e)
		}
	}()
	_ = uv.NewTerminalReader(b, term).StreamEvents(b.ctx, events) // Read fails only with io.EOF.
	close(events)
	<-sent
}

// Read implements io.Reader. It returns io.EOF after a pause.
func (b *burst) Read(p []byte) (int, error) {
	if len(b.unread) == 0 {
		pause := time.NewTimer(inputPause)
		defer pause.Stop()
		select {
		case <-b.ctx.Done():
			return 0, io.EOF
		case <-pause.C:
			return 0, io.EOF
		case chunk, ok := <-b.more:
			if !ok {
				return 0, io.EOF
			}
			b.unread = chunk
		}
	}
	n := copy(p, b.unread)
	b.unread = b.unread[n:]
	return n, nil
}
