package cli

import (
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/stretchr/testify/assert"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// Ensure that the screen has only characters that the terminal can show, and that a terminal whose cursor cannot be moved gets no screen.
func TestPlay_Terminal(t *testing.T) {
	t.Parallel()
	server := someServer(t)
	for name, test := range map[string]struct {
		env   []string
		args  []string
		ascii bool
	}{
		"UTF-8":          {},
		"another locale": {env: []string{"LC_ALL=C", "TERM=vt100"}, ascii: true},
		"plain":          {args: []string{"--plain"}, ascii: true},
	} {
		t.Log(name)
		u := newUser(t, server, "ada")
		u.env = test.env
		s := u.sit(append([]string{"play"}, test.args...)...)
		s.sees("MOVES")
		s.types("q")
		s.ends(exitOK)
		screen := s.out.String()
		other := strings.ContainsFunc(screen, func(r rune) bool { return r > unicode.MaxASCII })
		assert.Equal(t, test.ascii, !other, screen)
	}
	dumb := newUser(t, server, "bob")
	dumb.terminal, dumb.env = true, []string{"TERM=dumb"}
	_, note, _ := dumb.run()
	assert.Contains(t, note, "The lobby needs a terminal that can move its cursor")
	dumb.fails(exitFailed, "play needs a terminal that can move its cursor", "play")
}

// Ensure that lists and the screen take ages from the server's clock, not from that of this machine.
func TestServerClock(t *testing.T) {
	t.Parallel()
	now := time.Now().Add(100 * time.Hour)
	created := timestamppb.New(now.Add(-7 * time.Hour))
	game := &pb.Game{
		Id: evilID, Variant: "classic", Status: pb.GameStatus_GAME_STATUS_ACTIVE, Version: 3, Position: evilPosition(),
		Seats:      []*pb.Seat{{Occupant: &pb.Seat_Player{Player: &pb.Player{Id: evilOne, Name: "bob"}}}},
		CreateTime: created, UpdateTime: created,
	}
	server := hostileServer(t, func(method string) (proto.Message, error) {
		answer := evilAnswer(method, 0)
		proto.Reset(answer)
		if method == pb.GameService_ListGames_FullMethodName {
			answer = &pb.ListGamesResponse{Games: []*pb.Game{game}}
		}
		return answer, nil
	}, pb.TimeHeader, now.Format(time.RFC3339Nano))
	u := newUser(t, server, "ada")
	assert.Contains(t, u.ok("games"), "7 h ago")
	lobby := u.sit()
	lobby.sees("7 h")
	lobby.types("q")
	lobby.ends(exitOK)
}
