package load

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/gridstand/gridstand/client"
)

// Report is the result of a run. Its JSON is for scripts.
type Report struct {
	// Server under load, its version and its storage.
	Server  string `json:"server"`
	Version string `json:"version"`
	Storage string `json:"storage"`
	// Variant that was played, and the numbers of games at a time, players and so on.
	Variant     string `json:"variant"`
	Games       int    `json:"games"`
	Players     int    `json:"players"`
	Watchers    int    `json:"watchers"`
	Connections int    `json:"connections"`
	// Rate of moves a second that was requested, 0 for as many as possible.
	Rate float64 `json:"rate"`
	// Seconds that the load took, and the setup before it.
	Seconds      float64 `json:"seconds"`
	SetupSeconds float64 `json:"setupSeconds"`
	// Interrupted reports whether the run ended early.
	Interrupted bool `json:"interrupted"`

	// Moves that were acknowledged, and how many in a second.
	Moves          int64   `json:"moves"`
	MovesPerSecond float64 `json:"movesPerSecond"`
	// Events that watchers got, and how many in a second of the load.
	Events          int64   `json:"events"`
	EventsPerSecond float64 `json:"eventsPerSecond"`
	// Played counts the games.
	Played int64 `json:"played"`
	// Move is the time from the call of a move to its response, including retries.
	Move Latency `json:"move"`
	// Delivery is the time from the call of a move to its receipt by a watcher, for
	// each watcher.
	Delivery Latency `json:"delivery"`

	// Gaps and Repeats count the messages whose version did not follow the previous
	// one of the watcher: too high, or seen before.
	Gaps    int64 `json:"gaps"`
	Repeats int64 `json:"repeats"`
	// Unfinished counts the times that a watcher did not see the end of a game, Lost
	// the events that the watcher missed then, as far as the game's player knows.
	Unfinished int   `json:"unfinished"`
	Lost       int64 `json:"lost"`
	// Skipped counts the events that snapshots replaced for watchers who had fallen
	// behind, which is not an error.
	Skipped int64 `json:"skipped"`
	// Reconnects counts the streams that had to be opened again.
	Reconnects int64 `json:"reconnects"`
	// Errors by call and code.
	Errors []ErrorCount `json:"errors"`

	// Metrics of the server, nil if not requested.
	Metrics *Metrics `json:"metrics"`

	// Resigned counts the games that were ended after the load, Left those that
	// could not be ended.
	Resigned int64 `json:"resigned"`
	Left     int64 `json:"left"`
	// Accounts is the prefix of the names of the accounts that were created.
	Accounts string `json:"accounts"`
}

// Latency is a distribution of times, in milliseconds.
type Latency struct {
	Count int64   `json:"count"`
	P50   float64 `json:"p50"`
	P90   float64 `json:"p90"`
	P99   float64 `json:"p99"`
	Max   float64 `json:"max"`
}

// ErrorCount counts the errors of a call with the same code and reason.
type ErrorCount struct {
	// Call such as "Move".
	Call string `json:"call"`
	// Code of gRPC and reason of the contract, which may be empty.
	Code   string `json:"code"`
	Reason string `json:"reason,omitempty"`
	// Message of the first one.
	Message string `json:"message"`
	Count   int64  `json:"count"`
	// Advice is what to do about it, if known.
	Advice string `json:"advice,omitempty"`
}

// ErrBroken means that the server broke the API's promises.
var ErrBroken = errors.New("watchers did not see every event once")

// Err is ErrBroken if a watcher missed an event, got one twice, or did not see the end
// of a game, and another error if nothing was measured.
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

// errorCounts are the errors, the most frequent first.
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

// advice names the flag of the server that limits the load.
func advice(call string, e *client.Error) string {
	limit := e.Metadata["limit"]
	switch {
	case errors.Is(e, client.ErrTooManyGames):
		return fmt.Sprintf("the server allows a player %s open games: take more players, or raise its --max-open-games", limit)
	case !errors.Is(e, client.ErrRateLimited):
		return ""
	case call == callMove:
		return fmt.Sprintf("the server allows a player %s moves a second: take more players or a lower rate, or raise its --max-moves-per-second", limit)
	case call == callWatch && strings.Contains(e.Message, "address"):
		return "raise the server's --max-watches-per-address-per-second and --max-watches-per-address, or set them to 0"
	case call == callWatch:
		return fmt.Sprintf("the server allows a game %s watchers: raise its --max-watchers-per-game", limit)
	default:
		return "the server limits this call: see the limits in its --help"
	}
}
