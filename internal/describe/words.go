package describe

import pb "github.com/gridstand/gridstand/proto/gridstand/v1"

// Colors lists the names of the seats' colors, by seat.
var Colors = []string{"blue", "red", "green"}

// endings describes how a game ended, by reason.
var endings = map[pb.Result_Reason]string{
	pb.Result_REASON_GOAL_REACHED: "2048 reached",
	pb.Result_REASON_NO_MOVES:     "No moves left",
	pb.Result_REASON_RESIGNED:     "Resigned",
	pb.Result_REASON_TIMED_OUT:    "Out of time",
	pb.Result_REASON_ABANDONED:    "Abandoned",
}

// bots says how each bot plays, by its name.
var bots = map[string]string{
	"random":     "any move",
	"rote":       "the same pattern again and again",
	"greedy":     "most points now",
	"montecarlo": "tries random games; strong",
	"expectimax": "looks ahead; the strongest",
	"original":   "as in the first version; strong",
	"minimax":    "looks ahead; the strongest",
}

// Reactions names the reactions of watchers, in the order of pb.Reaction from REACTION_CLAP.
var Reactions = []string{"clap", "wow", "laugh", "heart", "fire", "ouch"}

// squares holds the colors of tiles by the exponent of their value, starting at 1; the last color
// is for all larger tiles.
var squares = []rune("⬛⬛🟦🟦🟩🟩🟧🟧🟥🟪🟨⬜")

// words holds the other texts of the page, most of which this package uses, too. Each %s stands for a parameter.
var words = struct {
	Open, YouWin, GameOver                                string
	NoWinner, Wins, ShareWin, And, OthersResigned         string
	Joins, UndoneTo, Resigns, RanOut, Extended, Abandoned string
	Watching, NoWatchers, Ago, JustNow                    string
	Kept, Beat, Level, Behind, Tie                        string
	NewTile, NewBest, NewBestOf, SecondsLeft              string
	Overtakes, Overtaken, Leads                           string
}{
	// The occupant of a seat without a player or bot
	Open: "open",
	// Titles of the end of a game. GameOver also stands for reasons that are not in endings.
	YouWin:   "You win",
	GameOver: "Game over",
	// Winners, and why there is one if the game has several seats and was not played to its end
	NoWinner:       "No winner",
	Wins:           "%s wins",
	ShareWin:       "%s share the win",
	And:            " and ",
	OthersResigned: "others resigned",
	// Events
	Joins:     "%s joins",
	UndoneTo:  "undone, back to move %s",
	Resigns:   "%s resigns",
	RanOut:    "%s ran out of time",
	Extended:  "%s gets an extra %s s",
	Abandoned: "abandoned",
	// Watchers, and the age of an event
	Watching:   "%s watching",
	NoWatchers: "no watchers",
	Ago:        "%s ago",
	JustNow:    "just now",
	// What giving up an attempt means, and the result of a rematch or a race
	Kept:   "Your %s are kept. You cannot return.",
	Beat:   "beat %s by %s",
	Level:  "level with %s",
	Behind: "%s behind %s",
	Tie:    "A tie: the earlier one wins.",
	// Moments of a game and of a race
	NewTile:     "%s!",
	NewBest:     "Your new best",
	NewBestOf:   "%s has a new best",
	SecondsLeft: "%s seconds left",
	Overtakes:   "%s overtakes you",
	Overtaken:   "You overtake %s",
	Leads:       "%s takes the lead",
}
