package store

import (
	"context"
	"errors"
	"time"
)

// Dumper reads all the data of a store, and writes such data to a store of any engine.
type Dumper interface {
	// Dump calls put with all data that a dump contains, one item at a time. It skips
	// expired data, data that servers derive from the logs (boards, lists and queue), and
	// data that is needed only while servers are running (counts of spectators, claims, links of
	// sessions). It stops at the first error, including one from put.
	Dump(ctx context.Context, put func(Item) error) error
	// Restore writes items from a dump, with their IDs and times. No server may use the
	// store, and the items must not be written twice.
	Restore(ctx context.Context, items []Item) error
}

// Format is the version of what callers encode for the store: entries, heads and
// challenges. Raise it with each change that earlier versions of the program cannot read:
// they then refuse the store and its dumps.
const Format = 1

// ErrNotEmpty means that a store to restore has data.
var ErrNotEmpty = errors.New("it has data; --replace deletes that first")

// Item is a part of a store's data: exactly one field is set. The names of these fields,
// and of the fields of their types, are part of the format of dumps.
type Item struct {
	Secret     *DumpedSecret  `json:",omitempty"`
	Credential *Credential    `json:",omitempty"`
	Hidden     *DumpedPlayer  `json:",omitempty"`
	Server     *DumpedServer  `json:",omitempty"`
	Account    *DumpedAccount `json:",omitempty"`
	Name       *HeldName      `json:",omitempty"`
	Profile    *DumpedProfile `json:",omitempty"`
	Key        *DumpedKey     `json:",omitempty"`
	Session    *DumpedSession `json:",omitempty"`
	Challenge  *Challenge     `json:",omitempty"`
	Log        *DumpedLog     `json:",omitempty"`
	Head       *DumpedHead    `json:",omitempty"`
}

// DumpedSecret is a secret and its name.
type DumpedSecret struct {
	Name   string
	Secret []byte
}

// DumpedPlayer is the ID of a hidden player.
type DumpedPlayer struct{ PlayerID string }

// DumpedServer is a server and its last heartbeat.
type DumpedServer struct {
	ServerID string
	ServerHeartbeat
}

// DumpedAccount is an account and the time at which it expires unless renewed. Here and
// below, the zero time means never.
type DumpedAccount struct {
	Account
	Expires time.Time `json:",omitzero"`
}

// DumpedProfile is the profile of a player, whose account it follows.
type DumpedProfile struct {
	PlayerID string
	Profile
}

// HeldName is the folded form of a name that is taken. The account that holds it may have expired.
type HeldName struct{ Name, AccountID string }

// DumpedKey is an SSH key and the time at which its account expires unless renewed.
type DumpedKey struct {
	Key
	Expires time.Time `json:",omitzero"`
}

// DumpedSession is a session and the time at which it expires unless renewed.
type DumpedSession struct {
	Session
	Expires time.Time `json:",omitzero"`
}

// DumpedLog is the next part of a game's log.
type DumpedLog struct {
	GameID  string
	Entries []Record
}

// DumpedHead is the head of a game as stored, and the time at which the game is removed.
// It follows the game's log.
type DumpedHead struct {
	GameID  string
	Last    ID
	Time    time.Time `json:",omitzero"`
	Encoded []byte
	Expires time.Time `json:",omitzero"`
}

// renew adds d to the time at which the item expires, if it does. A server of the dumped store is no
// server of the restored one, so it has left, before the dump was made: if the dumped store's clock
// was ahead, a later heartbeat would hide outages.
func (i *Item) renew(made time.Time, d time.Duration) {
	var expires *time.Time
	switch {
	case i.Server != nil:
		i.Server.Left = true
		if i.Server.At.After(made) {
			i.Server.At = made
		}
	case i.Account != nil:
		expires = &i.Account.Expires
	case i.Key != nil:
		expires = &i.Key.Expires
	case i.Session != nil:
		expires = &i.Session.Expires
	case i.Challenge != nil:
		expires = &i.Challenge.Expires
	case i.Head != nil:
		expires = &i.Head.Expires
	}
	if expires != nil && !expires.IsZero() {
		*expires = expires.Add(d)
	}
}
