//go:build unix

package cli

import "testing"

// TestTerminal_Lobby starts a game from the lobby, comes back to it, takes
// the game up again, and watches it from another's lobby.
func TestTerminal_Lobby(t *testing.T) {
	t.Parallel()
	p, server := newPanes(t), quickServer(t)
	p.open("ada", "--server "+server+" --name ada")
	p.sees("ada", `(?s)No live games. n starts one.*None yet`)
	p.tmux("send-keys", "-t", "ada", "n")
	p.sees("ada", `(?s)New game.*variant +‹ classic ›`)
	p.tmux("send-keys", "-t", "ada", "Enter")
	p.sees("ada", "MOVES  0")
	p.open("bob", "--server "+server)
	p.sees("bob", "▸ classic  ada")
	p.tmux("send-keys", "-t", "bob", "Enter")
	p.sees("bob", "version 1,")
	p.tmux("send-keys", "-t", "ada", "Left", "Down", "Right", "Up")
	p.sees("ada", `MOVES  [1-4]`) // keys that still wait are gone with q
	p.tmux("send-keys", "-t", "ada", "q")
	p.sees("ada", `(?s)LIVE GAMES.*classic  ada.*MY GAMES.*classic  ada`)
	p.tmux("send-keys", "-t", "ada", "Enter")
	p.sees("ada", `MOVES  [1-4]`)
	p.sees("bob", `version [2-5],`)
	p.tmux("send-keys", "-t", "ada", "q")
	p.sees("ada", "LIVE GAMES")
	p.tmux("send-keys", "-t", "ada", "q")
	p.sees("ada", "(?s)Resume it with.*exit=0 icanon echo")
	p.tmux("send-keys", "-t", "bob", "C-c")
	p.sees("bob", "exit=130 icanon echo")
}
