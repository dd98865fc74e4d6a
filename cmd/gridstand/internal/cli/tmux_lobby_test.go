//go:build unix

package cli

import "testing"

// TestTerminal_Lobby starts a game from the lobby, returns to the lobby, resumes the
// game, and watches it from another player's lobby.
func TestTerminal_Lobby(t *testing.T) {
	t.Parallel()
	p, server := newPanes(t), quickServer(t)
	p.open("ada", "--server "+server+" --name ada")
	p.sees("ada", `(?s)No live games. Press n to start one.*None yet`)
	p.tmux("send-keys", "-t", "ada", "n")
	p.sees("ada", `(?s)New game.*variant +‹ classic ›`)
	p.tmux("send-keys", "-t", "ada", "Enter")
	p.sees("ada", `(?s)What should others call you.*▸ ada`)
	p.tmux("send-keys", "-t", "ada", "Enter")
	p.sees("ada", "MOVES  0")
	p.open("bob", "--server "+server)
	p.sees("bob", "▸[●○] classic +ada") // ○ if the game is more than half a minute old
	p.tmux("send-keys", "-t", "bob", "Enter")
	p.sees("bob", "move 0|● live|○ idle")
	p.tmux("send-keys", "-t", "ada", "Left", "Down", "Right", "Up")
	p.sees("ada", `MOVES  [1-4]`) // wait before q, which discards pending keys
	p.tmux("send-keys", "-t", "ada", "q")
	p.sees("ada", `(?s)Live games.*classic +ada.*My games.*classic +running`)
	p.tmux("send-keys", "-t", "ada", "Enter")
	p.sees("ada", `MOVES  [1-4]`)
	p.sees("bob", `move [1-4]\b`)
	p.tmux("send-keys", "-t", "ada", "q")
	p.sees("ada", "Live games")
	p.tmux("send-keys", "-t", "ada", "q")
	p.sees("ada", "exit=0 icanon echo")
	p.tmux("send-keys", "-t", "bob", "C-c")
	p.sees("bob", "exit=130 icanon echo")
}
