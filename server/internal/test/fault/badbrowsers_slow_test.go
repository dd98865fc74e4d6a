//go:build slow

package fault

import (
	"bufio"
	"context"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
)

// badBrowsers lists the bad clients that abuse plain HTTP rather than gRPC.
var badBrowsers = []badClient{
	{"HTTP headers that never end", false, 0, func(ctx context.Context, f *flood) error {
		header := "GET / HTTP/1.1\r\nHost: gridstand\r\nX-Long: " + strings.Repeat("x", 8<<10)
		return f.connect(ctx, browsers/3, func(n int) []byte { return []byte(header[:len(header)-n]) })
	}},
	{"HTTP bodies sent very slowly", true, 0, func(ctx context.Context, f *flood) error {
		return f.request(ctx, browsers/3, httpCall("ListGames", 1000, "{"), func(ctx context.Context, conn net.Conn) {
			drip := time.NewTicker(100 * time.Millisecond)
			defer drip.Stop()
			for {
				select {
				case <-ctx.Done():
					return
				case <-drip.C:
				}
				if _, err := io.WriteString(conn, " "); err != nil {
					return
				}
			}
		})
	}},
	{"huge HTTP bodies", true, 0, func(ctx context.Context, f *flood) error {
		huge := strings.Repeat(" ", 1<<20)
		return f.request(ctx, flooders, httpCall("ListGames", 1<<40, "{"), func(_ context.Context, conn net.Conn) {
			for err := error(nil); err == nil; {
				_, err = io.WriteString(conn, huge)
			}
		})
	}},
	{"HTTP responses that are not read", true, 0, func(ctx context.Context, f *flood) error {
		f.unread.Store(true)
		return f.request(ctx, browsers, strings.Repeat(httpCall("ListGames", 16, `{"pageSize":200}`), 20), nil)
	}},
	{"pages", true, connects, func(ctx context.Context, f *flood) error {
		client := &http.Client{Transport: &http.Transport{DialContext: f.dialer.DialContext, MaxIdleConnsPerHost: framers}}
		defer client.CloseIdleConnections()
		return f.repeatWith(ctx, framers, func() func(*rand.Rand) error {
			return func(*rand.Rand) error { return f.get(ctx, client, "/") }
		})
	}},
	{"Server-Sent Events that are not read", true, 0, func(ctx context.Context, f *flood) error {
		return f.request(ctx, eventReaders, "GET /g/"+f.gameID+"/events?after_version=0 HTTP/1.1\r\nHost: gridstand\r\n\r\n", nil)
	}},
}

// get reads a page, and counts a refusal.
func (f *flood) get(ctx context.Context, client *http.Client, path string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+f.server.addr+path, nil)
	if err != nil {
		return err
	}
	response, err := client.Do(request)
	if err != nil { // The server closes the connections of clients that continue.
		pause(ctx, refusedPause)
		return nil
	}
	defer response.Body.Close()
	if response.StatusCode == http.StatusTooManyRequests {
		f.refused.Add(1)
	}
	_, _ = io.Copy(io.Discard, response.Body)
	return nil
}

// request keeps a number of connections open, sends a request on each, and reads only the status
// of the response. If next is not nil, it then runs next on the connection. It reopens
// connections that the server closes and, after a second, those that the server refuses.
func (f *flood) request(ctx context.Context, connections int, request string, next func(context.Context, net.Conn)) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var group errgroup.Group
	slots := make(chan struct{}, dialers)
	var begun sync.WaitGroup
	begun.Add(connections)
	go func() {
		begun.Wait()
		f.ready()
	}()
	for range connections {
		begin := sync.OnceFunc(begun.Done)
		group.Go(func() error {
			defer begin()
			for ctx.Err() == nil {
				select {
				case slots <- struct{}{}:
				case <-ctx.Done():
					return nil
				}
				conn, err := f.dialer.DialContext(ctx, "tcp", f.server.addr)
				<-slots
				if err != nil {
					if ctx.Err() == nil {
						return err
					}
					return nil
				}
				f.requestOn(ctx, conn, request, next, begin)
			}
			return nil
		})
	}
	return group.Wait()
}

// requestOn sends the request on one connection and reads the status of the response. It calls
// begin when the response has arrived or the connection has been closed.
func (f *flood) requestOn(ctx context.Context, conn net.Conn, request string, next func(context.Context, net.Conn), begin func()) {
	defer func() { _ = conn.Close() }()
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
	_ = conn.(*net.TCPConn).SetReadBuffer(slowWindow)
	if _, err := io.WriteString(conn, request); err != nil {
		begin()
		return
	}
	if next != nil {
		begin()
		go next(ctx, conn)
	}
	response, err := http.ReadResponse(bufio.NewReaderSize(conn, 16), nil)
	begin()
	if next != nil && ctx.Err() == nil {
		f.dropped.Add(1)
	}
	if err != nil {
		pause(ctx, refusedPause)
		return
	}
	_ = response.Body // The body is not read.
	switch {
	case response.StatusCode == http.StatusTooManyRequests && response.Header.Get("Retry-After") != "":
		f.refused.Add(1)
		pause(ctx, time.Second)
	case response.StatusCode == http.StatusOK:
		f.granted.Add(1)
		<-ctx.Done()
	}
}
