package load

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/gridstand/gridstand/client"
)

// Report is the result of a run. Scripts parse its JSON form.
type Report struct {
	// Server, Version and Storage describe the server under load.
	Server  string `json:"server"`
	Version string `json:"version"`
	Storage string `json:"storage"`
	// Variant is the variant that was played. The fields after it are the numbers of
	// concurrent games, players, watchers and connections.
	Variant     string `json:"variant"`
	Games       int    `json:"games"`
	Players     int    `json:"players"`
	Watchers    int    `json:"watchers"`
	Connections int    `json:"connections"`
	// Rate is the requested number of moves per second; 0 for as many as possible.
	Rate float64 `json:"rate"`
	// Seconds and SetupSeconds are the durations of the load and of the setup before it.
	Seconds      float64 `json:"seconds"`
	SetupSeconds float64 `json:"setupSeconds"`
	// Interrupted reports whether the run was ended early.
	Interrupted bool `json:"interrupted"`

	// Moves and MovesPerSecond count the acknowledged moves, in total and per second.
	Moves          int64   `json:"moves"`
	MovesPerSecond float64 `json:"movesPerSecond"`
	// Events and EventsPerSecond count the events that watchers received, in total and per
	// second of load.
	Events          int64   `json:"events"`
	EventsPerSecond float64 `json:"eventsPerSecond"`
	// Played is the number of games played.
	Played int64 `json:"played"`
	// Move is the time from a move's call to its response, including retries.
	Move Latency `json:"move"`
	// Delivery is the time from a move's call to its receipt by a watcher, measured for
	// each watcher.
	Delivery Latency `json:"delivery"`

	// Gaps counts the messages whose version left a gap after the watcher's previous
	// version. Repeats counts the messages whose version the watcher had already received.
	Gaps    int64 `json:"gaps"`
	Repeats int64 `json:"repeats"`
	// Unfinished counts how many times a watcher did not see the end of a game. Lost counts
	// the events that these watchers missed, up to the last version known to the game's
	// player.
	Unfinished int   `json:"unfinished"`
	Lost       int64 `json:"lost"`
	// Skipped counts the events that were replaced by snapshots for slow watchers, which
	// is not an error.
	Skipped int64 `json:"skipped"`
	// Reconnects counts the streams that had to be reopened.
	Reconnects int64 `json:"reconnects"`
	// Errors counts the errors by call, code and reason.
	Errors []ErrorCount `json:"errors"`

	// Metrics contains the server's metrics, or is nil if they were not requested.
	Metrics *Metrics `json:"metrics"`

	// Resigned counts the games that were ended after the load, and Left the games that
	// could not be ended.
	Resigned int64 `json:"resigned"`
	Left     int64 `json:"left"`
	// Accounts is the name prefix of the accounts that the run created.
	Accounts string `json:"accounts"`
}

// Latency is the distribution of a latency, in milliseconds.
type Latency struct {
	Count int64   `json:"count"`
	P50   float64 `json:"p50"`
	P90   float64 `json:"p90"`
	P99   float64 `json:"p99"`
	Max   float64 `json:"max"`
}

// ErrorCount counts the errors of a call with the same code and reason.
type ErrorCount struct {
	// Call is the name of the call, such as "Move".
	Call string `json:"call"`
	// Code is the gRPC code, and Reason the reason from the contract, which may be empty.
	Code   string `json:"code"`
	Reason string `json:"reason,omitempty"`
	// Message is the message of the first such error.
	Message string `json:"message"`
	Count   int64  `json:"count"`
	// Advice suggests a remedy, if one is known.
	Advice string `json:"advice,omitempty"`
}

// ErrBroken means that the server violated a guarantee of the API.
var ErrBroken = errors.New("watchers did not see every event exactly once")

// Err returns ErrBroken if a watcher missed an event, received one twice, or did not see
// the end of a game. It returns another error if nothing was measured.
func (r *Report) Err() error {
	switch {
	case r.Broken():
		return ErrBroken
	case r.Moves == 0:
		return errors.New("no move was made")
	default:
		return nil
	}
}

// Broken reports whether Err is ErrBroken.
func (r *Report) Broken() bool { return r.Gaps+r.Repeats+r.Lost > 0 || r.Unfinished > 0 }

// errorCounts returns the errors, most frequent first.
func (t *tally) errorCounts() []ErrorCount {
	t.mu.Lock()
	defer t.mu.Unlock()
	all := make([]ErrorCount, 0, len(t.errors))
	for _, e := range t.errors {
		all = append(all, *e)
	}
	slices.SortFunc(all, func(a, b ErrorCount) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), strings.Compare(a.Call+a.Code+a.Reason, b.Call+b.Code+b.Reason))
	})
	return all
}

// advice suggests how to avoid an error, and names the server's flag for the limit that
// was hit. It is empty for errors that are not due to a limit.
func advice(call string, e *client.Error) string {
	limit := e.Metadata["limit"]
	switch {
	case errors.Is(e, client.ErrTooManyGames):
		return fmt.Sprintf("the server allows each player %s open games: use more players, or raise its --max-open-games", limit)
	case !errors.Is(e, client.ErrRateLimited):
		return ""
	case call == callMove:
		return fmt.Sprintf("the server allows each player %s moves per second: use more players or a lower rate, or raise its --max-moves-per-second", limit)
	case call == callWatch && strings.Contains(e.Message, "address"):
		return "raise the server's --max-watches-per-address-per-second and --max-watches-per-address, or set them to 0"
	case call == callWatch:
		return fmt.Sprintf("the server allows each game %s watchers: raise its --max-watchers-per-game", limit)
	default:
		return "the server limits this call: see the limits in the server's --help"
	}
}
