package web

import (
	"cmp"
	"fmt"
	"net/url"
	"strings"

	"github.com/gridstand/gridstand/internal/describe"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
	"github.com/gridstand/gridstand/server/internal/challenge"
	"github.com/gridstand/gridstand/server/internal/web/picture"
)

// sameTiles is the promise of every challenge.
const sameTiles = "The same tiles for everyone"

// describeChallenge describes a challenge by its poster.
func describeChallenge(c *pb.Challenge) description {
	poster := challengePoster(c)
	m := Meta{Title: poster.Title + ", " + poster.About, Image: pictureOf("c", c.GetId(), poster)}
	m.Description = strings.Join(append(poster.Lines, poster.Foot), ". ")
	if race(c) {
		m.Title += ": " + strings.ToLower(poster.Foot[:1]) + poster.Foot[1:]
		m.Description = sameTiles + " at the same time: " + strings.Join(poster.Lines, ", ") + "."
	}
	return description{m, poster, c.GetStatus() == pb.ChallengeStatus_CHALLENGE_STATUS_CLOSED}
}

// race reports whether a challenge is a race.
func race(c *pb.Challenge) bool { return c.GetKind() == pb.ChallengeKind_CHALLENGE_KIND_RACE }

// challengePoster returns the poster of a challenge. It shows no board of the challenge, and names no
// players except the entrants of a race, its creator, and the player to beat.
func challengePoster(c *pb.Challenge) picture.Poster {
	p := picture.Poster{About: "2048 " + c.GetVariant(), Lines: []string{sameTiles}, Foot: "How far can you get?"}
	if limit := c.GetLimit().AsDuration(); limit > 0 {
		p.About += ", " + describe.Limit(limit)
	}
	creator := c.GetCreator().GetName()
	switch c.GetKind() {
	case pb.ChallengeKind_CHALLENGE_KIND_DAILY:
		p.Title, p.Lines = "Daily game of "+c.GetDate(), append(p.Lines, "One attempt, until midnight UTC")
	case pb.ChallengeKind_CHALLENGE_KIND_RACE:
		p.Title, p.Lines = "Race", nil
		if creator != "" {
			p.Title = creator + " races"
		}
		for _, e := range c.GetEntrants() {
			p.Lines = append(p.Lines, cmp.Or(e.GetPlayer().GetName(), e.GetBot()))
		}
		p.Foot = fmt.Sprintf("%d of %d are here", len(c.GetEntrants()), challenge.MaxEntrants)
	case pb.ChallengeKind_CHALLENGE_KIND_REMATCH:
		p.Title = fmt.Sprintf("Beat %s's %s", cmp.Or(c.GetTarget().GetPlayer().GetName(), "a bot"),
			describe.Plural(c.GetTarget().GetScore(), "point"))
	default:
		p.Title = "Challenge by " + cmp.Or(creator, "a player")
	}
	switch c.GetStatus() {
	case pb.ChallengeStatus_CHALLENGE_STATUS_CLOSED:
		p.Foot = "Closed: see the ranking"
	case pb.ChallengeStatus_CHALLENGE_STATUS_SCHEDULED, pb.ChallengeStatus_CHALLENGE_STATUS_OPEN:
		p.Live = true
		if race(c) {
			p.Foot = "Live now"
		}
	}
	return p
}

// describeGame describes a game.
func describeGame(g *pb.Game) description {
	poster := gamePoster(g)
	return description{Meta{
		Title: poster.Title + ", " + poster.About, Description: poster.Foot + ": " + strings.Join(poster.Lines, ", "),
		Image: pictureOf("g", g.GetId(), poster),
	}, poster, g.GetStatus() == pb.GameStatus_GAME_STATUS_FINISHED}
}

// gamePoster returns the poster of a game: its players, their scores, and whether it is live or how it
// ended.
func gamePoster(g *pb.Game) picture.Poster {
	poster := picture.Poster{
		Title: describe.Players(g, describe.Seat), About: describe.Variant(g), Foot: describe.Stage(g),
		Position: g.GetPosition(), Scored: len(g.GetSeats()) == 1,
		Live: g.GetStatus() == pb.GameStatus_GAME_STATUS_ACTIVE,
	}
	for i, seat := range g.GetSeats() {
		poster.Lines = append(poster.Lines, describe.Seat(seat)+" "+describe.Comma(describe.Score(g, i)))
	}
	if poster.Scored {
		poster.Lines[0] = describe.Plural(describe.Score(g, 0), "point")
	}
	poster.Lines = append(poster.Lines, describe.Standing(g))
	// The winner's name is left out so that the foot fits.
	if won := describe.Winners(g, func(*pb.Seat) string { return "" }); won != "" {
		poster.Foot = won
	}
	return poster
}

// describePlayer describes a player by their latest public game, if there is one. The poster has its board.
func describePlayer(p *pb.Player, latest []*pb.Game) description {
	poster := picture.Poster{Title: p.GetName(), About: "Games, live and finished"}
	text := "The games of " + p.GetName() + ", live and finished."
	if len(latest) > 0 {
		poster = gamePoster(latest[0])
		poster.Title = p.GetName()
		if !poster.Live {
			poster.Foot = "Latest game"
		}
		text = poster.Foot + ": " + strings.Join(poster.Lines, ", ") + " in " + poster.About + ". All games, live and finished."
	}
	return description{
		Meta{Title: p.GetName() + " · Gridstand", Description: text, Image: pictureOf("p", p.GetName(), poster)}, poster, false,
	}
}

// pictureOf returns the path of a page's picture. It includes the poster's version, so that sites that
// cache pictures by URL show the current one.
func pictureOf(kind, id string, poster picture.Poster) string {
	return "/" + kind + "/" + url.PathEscape(id) + "/picture.png?v=" + poster.Version()
}
