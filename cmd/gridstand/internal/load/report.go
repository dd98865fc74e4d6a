package load

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/gridstand/gridstand/client"
)

// Report is how a run went. Its JSON is for scripts.
type Report struct {
	// Server that was loaded, its version and where it keeps games.
	Server  string `json:"server"`
	Version string `json:"version"`
	Storage string `json:"storage"`
	// Variant that was played, on how many boards at a time, by how many.
	Variant     string `json:"variant"`
	Games       int    `json:"games"`
	Players     int    `json:"players"`
	Watchers    int    `json:"watchers"`
	Connections int    `json:"connections"`
	// Rate of moves a second that was asked for, 0 for as many as possible.
	Rate float64 `json:"rate"`
	// Seconds that the load took; SetupSeconds what came before it.
	Seconds      float64 `json:"seconds"`
	SetupSeconds float64 `json:"setupSeconds"`
	// Interrupted says that it was ended before its time.
	Interrupted bool `json:"interrupted"`

	// Moves that were acknowledged, and how many in a second.
	Moves          int64   `json:"moves"`
	MovesPerSecond float64 `json:"movesPerSecond"`
	// Events that watchers got, and how many in a second of the load.
	Events          int64   `json:"events"`
	EventsPerSecond float64 `json:"eventsPerSecond"`
	// Played counts the games.
	Played int64 `json:"played"`
	// Move is the time from the call of a move to its answer, repeats
	// included.
	Move Latency `json:"move"`
	// Delivery is the time from the call of a move to its receipt by a
	// watcher, for each of them.
	Delivery Latency `json:"delivery"`

	// Gaps and Repeats count the messages to a watcher whose version did not
	// follow on the one before: too high, or seen already.
	Gaps    int64 `json:"gaps"`
	Repeats int64 `json:"repeats"`
	// Unfinished counts the times that a watcher did not see the end of a game,
	// Lost the events that he would still have had to see, as far as the player
	// of the game knows of them.
	Unfinished int   `json:"unfinished"`
	Lost       int64 `json:"lost"`
	// Skipped counts the events in whose place a watcher who had fallen behind
	// got the game, which is no fault.
	Skipped int64 `json:"skipped"`
	// Reconnects counts the streams that had to be opened again.
	Reconnects int64 `json:"reconnects"`
	// Errors by call and code.
	Errors []ErrorCount `json:"errors"`

	// Metrics of the server, nil where they were not asked for.
	Metrics *Metrics `json:"metrics"`

	// Resigned counts the games that were ended in the end, Left those that
	// could not be.
	Resigned int64 `json:"resigned"`
	Left     int64 `json:"left"`
	// Accounts is how the names begin of the accounts that were made.
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

// ErrorCount is how often a call was refused in the same way.
type ErrorCount struct {
	// Call such as "Move".
	Call string `json:"call"`
	// Code of gRPC and reason of the contract, which may be empty.
	Code   string `json:"code"`
	Reason string `json:"reason,omitempty"`
	// Message of the first one.
	Message string `json:"message"`
	Count   int64  `json:"count"`
	// Advice is what to do about it, where that is known.
	Advice string `json:"advice,omitempty"`
}

// ErrBroken is what a server did that the contract rules out.
var ErrBroken = errors.New("watchers did not see every event once")

// Err is ErrBroken where a watcher missed something or saw it twice, or cannot
// know since he did not see the end, and another error where nothing was
// measured.
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

// advice names the flag of the server that is in the way of a load.
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
