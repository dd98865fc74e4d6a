//go:build slow && unix

package cli

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	waittest "github.com/gridstand/gridstand/internal/testkit/wait"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

var recording = flag.String("recording", "", "record the terminals of the newcomers into this `folder`")

// Ensure that two people who have only an SSH client and a new key can play, watch each
// other's game, find the rules and leave, although they press only keys that their screen
// shows; make recording draws docs/newcomer.svg from this part. Then one of them plays Tribolo
// against bots, both race and see each other's points, one creates a challenge, and a guest without a key
// watches.
func TestTerminal_SSH(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("ssh"); err != nil {
		t.Skip("ssh is not installed")
	}
	p := newPanes(t)
	address, credential := hostedServer(t)
	h := startSSH(t, address, "--credential-file", credential, "--address", "play.example")
	w := &walk{panes: p, server: newUser(t, address, "observer")}
	for _, name := range []string{"ada", "grace"} {
		key := filepath.Join(p.dir, name+".key")
		newKeyFile(t, key, "")
		w.shell(h, name, "IdentityFile "+key)
	}
	ended := w.record()

	w.says("Two people who have never been here, and have only ssh.")
	w.types("grace", "ssh play.example")
	w.sees("grace", `GRIDSTAND +lobby`)
	grace := w.begins("grace")
	for range 2 {
		w.slides("grace")
	}

	w.says("ada sees a live game in the lobby. ? lists all keys.")
	w.types("ada", "ssh play.example")
	w.sees("ada", `▸. classic +`+grace+` +\d+`)
	w.sees("ada", `1 of 1 ─╯╰─+ no watchers`)
	w.press("ada", "?", `\? help`)
	w.sees("ada", `↑ ↓ k j +select`)
	w.press("ada", "Escape", `any key close`)

	w.says("n starts a game. The key is the account: it can get a name later.")
	ada := w.begins("ada")
	for range 4 {
		w.slides("ada")
	}

	w.says("Back in the lobby, ada opens grace's game and sees each move live.")
	w.press("ada", "q", `q back`)
	w.sees("ada", `classic +`+ada+` +\d+`)
	w.selects("ada", grace)
	w.press("ada", "Enter", `enter watch`)
	w.sees("ada", `move 2,`)
	w.sees("grace", `1 watching`)
	for n := 3; n <= 5; n++ {
		w.slides("grace")
		w.sees("ada", fmt.Sprintf(`move %d,`, n))
	}

	w.says("? lists the keys of this page, too. r shows the rules.")
	w.press("ada", "?", `\? help`)
	w.sees("ada", `r +rules`)
	w.press("ada", "Escape", `any key close`)
	w.press("ada", "r", `r rules`)
	w.sees("ada", `(?s)Classic.*Two equal tiles that meet merge`)

	w.says("q leads back, page by page, to a terminal that works as before.")
	w.press("ada", "q", `any key close|other keys close`)
	w.sees("ada", `move 5,`)
	w.press("ada", "q", `q back`)
	w.leaves("ada")
	w.press("grace", "q", `q back`)
	w.leaves("grace")
	ended()

	w.types("ada", "ssh play.example account rename ada")
	w.sees("ada", `(?m)^ada$`)
	w.types("ada", "ssh -t play.example play tribolo")
	w.sees("ada", "Your turn")
	before := lines(t, w.server.ok("games", "--variant", "tribolo", "--json"), func() *pb.Game { return new(pb.Game) })[0]
	assert.Equal(t, "ada", before.GetSeats()[0].GetPlayer().GetName(), "the key's account")
	w.tmux("send-keys", "-t", "ada", "Enter") // The cursor starts on a legal target.
	waittest.Until(t, "the bots have moved", func() bool {
		now := w.server.game(before.GetId())
		return now.GetVersion() > before.GetVersion()+1 && now.GetPosition().GetTurn() == 0
	})
	w.sees("ada", "Your turn")
	w.tmux("send-keys", "-t", "ada", "C-c")
	w.sees("ada", closed)

	w.types("ada", "ssh -t play.example race --limit 10m")
	race := w.sees("ada", `(?s)Roster.*ada \(you\), creator.*/c/[a-z2-7]{26}`)
	w.types("grace", "ssh -t play.example join "+race[len(race)-26:])
	w.sees("ada", `2 of 8`)
	others := map[string]string{"ada": grace, "grace": "ada"}
	for name := range others {
		w.press(name, "Enter", "enter")
	}
	for name, other := range others {
		w.sees(name, `(?s)PLACE.*`+other)
		w.tmux("send-keys", "-t", name, "Left", "Down", "Right", "Down", "Left", "Up", "Left", "Down", "Right", "Up", "Left", "Down")
	}
	for name, other := range others {
		w.sees(name, other+` +[1-9]\d*`) // After so many keys, some tiles have merged.
	}
	for name := range others {
		w.tmux("send-keys", "-t", name, "C-c")
	}

	w.types("ada", "ssh -t play.example challenge 3x3")
	challenge := w.sees("ada", `(?s)Challenge by ada, 3x3.*Others play it at.*or with ssh -t play.example join [a-z2-7]{26}`)
	w.press("ada", "Enter", "enter")
	w.sees("ada", `MOVES +0`)
	w.shell(h, "guest", "PubkeyAuthentication no")
	w.types("guest", "ssh -t play.example top "+challenge[len(challenge)-26:])
	w.sees("guest", `(?s)Challenge by ada, 3x3.*No attempt that counts`)
	w.sees("guest", closed)
	w.types("guest", "ssh play.example")
	w.sees("guest", `GRIDSTAND +lobby`)
	w.tmux("send-keys", "-t", "guest", "C-z") // must not suspend the host
	w.tmux("send-keys", "-t", "guest", "n")
	w.sees("guest", "! You are a guest")
	h.stop()
	w.sees("guest", "this host is stopping; connect again in a moment")
	w.sees("guest", closed)
}

// closed matches what the SSH client prints at the end of a connection.
const closed = `Connection to 127\.0\.0\.1 closed\.`

// walk is the way of newcomers through the program. It presses only keys that are shown, and
// can record the terminals.
type walk struct {
	*panes

	server *person // looks up which moves are legal
	// start is the beginning of the recording, or zero if nothing is recorded.
	start time.Time
}

// shell opens a pane with a shell in which the host's name is play.example. ssh has no other
// settings than a user could have: the address, the name and the key, if any. The screen is drawn without
// erase commands for this type of terminal, because captures lose the background of erased cells.
func (w *walk) shell(h *sshHost, name, identity string) {
	w.t.Helper()
	config := filepath.Join(w.dir, name+".config")
	require.NoError(w.t, os.WriteFile(config, fmt.Appendf(nil, "Host play.example\nHostName 127.0.0.1\nPort %s\nUser %s\n"+
		"%s\nIdentitiesOnly yes\nIdentityAgent none\nStrictHostKeyChecking accept-new\nUserKnownHostsFile %s\n",
		h.port(), name, identity, filepath.Join(w.dir, "known_hosts")), 0o600))
	profile := filepath.Join(w.dir, name+".profile")
	require.NoError(w.t, os.WriteFile(profile, fmt.Appendf(nil, "PS1='$ '\nssh() { command ssh -F %s \"$@\"; }\n", config), 0o600))
	w.run(name, "sh -i", "ENV="+profile, "TERM=rxvt-unicode-256color")
	w.sees(name, `^\$`)
}

// record captures the panes at each change until stop is called.
func (w *walk) record() (stop func()) {
	if *recording == "" {
		return func() {}
	}
	w.start = time.Now()
	ended := make(chan struct{})
	var recorder sync.WaitGroup
	for _, name := range []string{"ada", "grace"} {
		require.NoError(w.t, os.MkdirAll(filepath.Join(*recording, name), 0o755))
		recorder.Go(func() { w.capture(name, ended) })
	}
	return func() {
		w.pause(2 * time.Second)
		close(ended)
		recorder.Wait()
		w.start = time.Time{}
	}
}

// capture adds the screens of a pane to the recording until the recording has ended.
func (w *walk) capture(name string, ended <-chan struct{}) {
	every := time.NewTicker(40 * time.Millisecond)
	defer every.Stop()
	for last := ""; ; {
		at := time.Now()
		screen, err := w.command("capture-pane", "-e", "-N", "-p", "-t", name).Output()
		if !assert.NoError(w.t, err) {
			return
		}
		if string(screen) != last {
			w.save(at, filepath.Join(name, "%06d.ansi"), string(screen))
		}
		last = string(screen)
		select {
		case <-ended:
			return
		case <-every.C:
		}
	}
}

// save adds a file to the recording. The pattern of its name contains the milliseconds since
// the start.
func (w *walk) save(at time.Time, pattern, text string) {
	file := filepath.Join(*recording, fmt.Sprintf(pattern, max(at.Sub(w.start), 0).Milliseconds()))
	assert.NoError(w.t, os.WriteFile(file, []byte(text), 0o644))
}

// pause gives viewers of the recording time to read. Without a recording, it does nothing.
func (w *walk) pause(d time.Duration) {
	if !w.start.IsZero() {
		<-time.After(d)
	}
}

// says adds a caption to the recording.
func (w *walk) says(text string) {
	if w.start.IsZero() {
		return
	}
	w.pause(2 * time.Second)
	require.NoError(w.t, os.MkdirAll(filepath.Join(*recording, "captions"), 0o755))
	w.save(time.Now(), filepath.Join("captions", "%06d.txt"), text)
}

// types types a command line in a pane's shell, once the shell has shown its prompt: ssh reports
// the end of a connection before it gives the terminal back.
func (w *walk) types(pane, line string) {
	w.t.Helper()
	w.sees(pane, `(?m)^\$\s*\z`)
	w.pause(time.Second)
	for _, letter := range line {
		w.tmux("send-keys", "-t", pane, "-l", string(letter))
		w.pause(50 * time.Millisecond)
	}
	w.sees(pane, `\$ `+regexp.QuoteMeta(line))
	w.pause(500 * time.Millisecond)
	w.tmux("send-keys", "-t", pane, "Enter")
}

// press presses a key after the pane has shown the hint that names it.
func (w *walk) press(pane, key, hint string) {
	w.t.Helper()
	w.sees(pane, hint)
	w.pause(2 * time.Second)
	w.send(pane, key)
}

// send sends a key to a pane, and adds its name to the recording.
func (w *walk) send(pane, key string) {
	w.t.Helper()
	if !w.start.IsZero() {
		w.save(time.Now(), filepath.Join(pane, "%06d.key"), strings.ToLower(key))
	}
	w.tmux("send-keys", "-t", pane, key)
}

// begins starts a game from the lobby, and returns the guest name of the account that this creates.
func (w *walk) begins(pane string) string {
	w.t.Helper()
	w.press(pane, "n", `n new`)
	w.press(pane, "1", `1 enter classic: `)
	w.sees(pane, `MOVES +0\b`)
	player := strings.Fields(w.sees(pane, `watch @[\w-]+`))[1]
	return w.server.game(player).GetSeats()[0].GetPlayer().GetName()
}

// slides makes a legal move with an arrow key.
func (w *walk) slides(pane string) {
	w.t.Helper()
	w.sees(pane, `↑↓←→ slide`)
	player := strings.Fields(w.sees(pane, `watch @[\w-]+`))[1]
	moves, err := strconv.Atoi(strings.Fields(w.sees(pane, `MOVES +\d+`))[1])
	require.NoError(w.t, err)
	legal := w.server.game(player).GetPosition().GetTwenty48().GetLegalMoves()
	key := arrows[legal[len(legal)-1-moves%min(len(legal), 2)]]
	w.pause(900 * time.Millisecond)
	w.send(pane, key)
	w.sees(pane, fmt.Sprintf(`MOVES +%d\b`, moves+1))
}

// selects selects the live game of a player in the lobby.
func (w *walk) selects(pane, player string) {
	w.t.Helper()
	w.sees(pane, `(?s)▸. classic.*classic`) // two live games
	if selected := w.sees(pane, `▸. classic +[\w-]+`); !strings.HasSuffix(selected, player) {
		w.press(pane, "Down", `↑ ↓ select`)
	}
	w.sees(pane, `▸. classic +`+player)
}

// leaves quits from the lobby, and checks that the shell and the terminal work as before.
func (w *walk) leaves(pane string) {
	w.t.Helper()
	w.sees(pane, `GRIDSTAND +lobby`)
	w.press(pane, "q", `q quit`)
	w.sees(pane, closed+`\s+\$`)
	w.types(pane, "echo still a shell")
	w.sees(pane, `(?m)^still a shell`)
}
