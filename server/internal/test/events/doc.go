// Package events tests games as Server-Sent Events, on whole servers and connections of
// TCP. It has only tests.
package events
