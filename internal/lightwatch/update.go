package lightwatch

import (
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protowire"

	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

// Update identifies the game and the version that a message of a Watch stream belongs to.
type Update struct {
	// Kind is Game, Event, or Other for audiences and unknown kinds.
	Kind Kind
	// GameID is the id of the game. It is valid until the receiver returns.
	GameID []byte
	// Version is the version of the game or event.
	Version int32
	// Over reports whether the game is over as of this message.
	Over bool

	seconds, nanos uint64 // time at which the event was stored
}

// Kind is the kind of a message.
type Kind uint8

// The kinds of messages.
const (
	Other Kind = iota
	Game
	Event
)

// Time returns when the event was stored.
func (u *Update) Time() time.Time { return time.Unix(int64(u.seconds), int64(u.nanos)) }

// tag is the encoded number and wire type of a field. It precedes the field's value.
type tag uint64

const (
	asVarint tag = tag(protowire.VarintType)
	asBytes  tag = tag(protowire.BytesType)
)

// The fields that decode reads. FuzzUpdate_Decode compares them with the contract.
const (
	responseGame  = 1<<3 | asBytes
	responseEvent = 2<<3 | asBytes

	gameID      = 1<<3 | asBytes
	gameStatus  = 4<<3 | asVarint
	gameVersion = 5<<3 | asVarint

	eventGameID  = 1<<3 | asBytes
	eventVersion = 2<<3 | asVarint
	eventTime    = 3<<3 | asBytes
	eventResult  = 15<<3 | asBytes

	timeSeconds = 1<<3 | asVarint
	timeNanos   = 2<<3 | asVarint
)

var errMalformed = status.Error(codes.Internal, "a message that cannot be decoded")

// decode sets u to the contents of a message.
func (u *Update) decode(message []byte) error {
	*u = Update{}
	return fields(message, func(field tag, _ uint64, value []byte) error {
		switch field {
		case responseGame:
			u.Kind = Game
		case responseEvent:
			u.Kind = Event
		default:
			return nil
		}
		return fields(value, u.set)
	})
}

// set sets a field of the game or the event.
func (u *Update) set(field tag, n uint64, value []byte) error {
	isGame := u.Kind == Game
	switch {
	case isGame && field == gameID, !isGame && field == eventGameID:
		u.GameID = value
	case isGame && field == gameVersion, !isGame && field == eventVersion:
		u.Version = int32(n)
	case isGame && field == gameStatus:
		u.Over = pb.GameStatus(n) == pb.GameStatus_GAME_STATUS_FINISHED
	case !isGame && field == eventResult:
		u.Over = true
	case !isGame && field == eventTime:
		return fields(value, u.setTime)
	}
	return nil
}

func (u *Update) setTime(field tag, n uint64, _ []byte) error {
	switch field {
	case timeSeconds:
		u.seconds = n
	case timeNanos:
		u.nanos = n
	}
	return nil
}

// fields calls do for every field of a message, with the field's value as a number or as bytes.
func fields(message []byte, do func(field tag, n uint64, value []byte) error) error {
	for len(message) > 0 {
		number, kind, size := protowire.ConsumeTag(message)
		if size < 0 {
			return errMalformed
		}
		message = message[size:]
		var n uint64
		var value []byte
		switch kind {
		case protowire.VarintType:
			n, size = protowire.ConsumeVarint(message)
		case protowire.BytesType:
			value, size = protowire.ConsumeBytes(message)
		default:
			size = protowire.ConsumeFieldValue(number, kind, message)
		}
		if size < 0 {
			return errMalformed
		}
		message = message[size:]
		if err := do(tag(number)<<3|tag(kind), n, value); err != nil {
			return err
		}
	}
	return nil
}
