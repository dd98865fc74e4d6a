// Package events tests streams of game events as Server-Sent Events, against whole servers over
// TCP. It contains only tests.
package events
