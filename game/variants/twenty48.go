package variants

import (
	"fmt"

	"github.com/gridstand/gridstand/game"
	"github.com/gridstand/gridstand/game/twenty48"
)

// goal is the tile that gives 2048 its name. It is the goal of every variant, whether or not
// the game ends there.
const goal = 2048

// twenty48s returns the variants of 2048. They differ in the same ways as the programs they come
// from.
func twenty48s() []game.Variant {
	vs := []game.Variant{
		{
			ID:      "classic",
			Title:   "Classic",
			Summary: "The 2048 that everyone knows: play on past 2048 until you are stuck.",
			Manual: "Slide all tiles up, right, down or left. Two equal tiles that meet merge into their sum, " +
				"once per move, and you score what the new tile shows. After every move that changed the board " +
				"a new tile appears in an empty cell: usually a 2, one time in ten a 4. Make 2048 and the game " +
				"counts as won, but it does not stop there: go on until no move is left. " +
				"These are the rules of Gabriele Cirulli's original.",
			Rules: twenty48.New(cirulli(4, 4)),
		},
		{
			ID:      "twos",
			Title:   "Twos",
			Summary: "One 2 to begin with and never a 4; the game is over when 2048 is made.",
			Manual: "The board starts with a single 2 near the middle, and only 2s ever appear, so you know " +
				"what comes but not where. A merge scores half of the new tile, two points for a pair of 2s. " +
				"Make 2048 and you win on the spot; get stuck before and you have lost. " +
				"The rules come from a version in ClojureScript.",
			// No tile spawns after the winning move.
			Rules: twenty48.New(twenty48.Config{
				Rows: 4, Columns: 4, Start: twenty48.StartMiddleTwo,
				Goal: goal, EndsAtGoal: true, HalfScore: true,
			}),
		},
		{
			ID:      "restless",
			Title:   "Restless",
			Summary: "Every move brings a tile, even one that moves nothing; a 4 one time in five.",
			Manual: "You start with two 2s. A new tile appears after every move, and one in five is a 4. You " +
				"may slide even if no tile can move: the board stays as it is, but a new tile appears all the same, " +
				"which can be a way to wait and can fill the board faster than you like. Once the board is full, " +
				"only moves that merge are left. Make 2048 and you win on the spot. " +
				"The rules come from a version in Python with Tkinter.",
			Rules: twenty48.New(twenty48.Config{
				Rows: 4, Columns: 4, Start: twenty48.StartTwoTwos, FoursIn: 5,
				Goal: goal, EndsAtGoal: true, SpawnsAfterGoal: true, IdleMoves: true,
			}),
		},
		{
			ID:      "vt100",
			Title:   "VT100",
			Summary: "As played on a serial terminal: a 4 one time in six, over when 2048 is made.",
			Manual: "Two tiles to start with, and a new one after every move that changed the board: usually a " +
				"2, one time in six a 4. A merge scores what the new tile shows. Make 2048 and you win on the " +
				"spot; get stuck before and you have lost. The rules come from a version for the Arduino, " +
				"which was played on a VT100 terminal.",
			Rules: twenty48.New(twenty48.Config{
				Rows: 4, Columns: 4, Start: twenty48.StartSpawned, FoursIn: 6,
				Goal: goal, EndsAtGoal: true, SpawnsAfterGoal: true,
			}),
		},
		sized(3, "Nine cells and little room to err: every tile has to count.",
			"Nine cells fill up quickly, so a game is short. Not even the luckiest one gets beyond 1024."),
		sized(5, "A little more room: 2048 is soon made, and the game goes far beyond it.",
			"With twenty-five cells 2048 is only a stop on the way, and games grow long."),
		sized(6, "A wide board for a long evening: see how far the tiles can go.",
			"With thirty-six cells there is nearly always a way out, and the longest games are played here."),
	}
	for i := range vs {
		c := vs[i].Rules.(*twenty48.Rules).Config()
		vs[i].Kind = game.Twenty48
		vs[i].Rows, vs[i].Columns = c.Rows, c.Columns
		vs[i].Seats = 1
		vs[i].Revision = 1
		vs[i].Bots = []string{"random", "rote", "greedy", "montecarlo", "expectimax"}
	}
	return vs
}

// cirulli returns the rules of Gabriele Cirulli's 2048 for a board of any size. At 2048 the
// original asks whether to keep playing; here the game always continues.
func cirulli(rows, columns int) twenty48.Config {
	return twenty48.Config{
		Rows: rows, Columns: columns, Start: twenty48.StartSpawned, FoursIn: 10, Goal: goal,
	}
}

// sized returns classic on a square board of another size.
func sized(side int, summary, manual string) game.Variant {
	return game.Variant{
		ID:      fmt.Sprintf("%dx%d", side, side),
		Title:   fmt.Sprintf("%d×%d", side, side),
		Summary: summary,
		Manual:  fmt.Sprintf("The classic rules on a board of %d×%d. %s", side, side, manual),
		Rules:   twenty48.New(cirulli(side, side)),
	}
}
