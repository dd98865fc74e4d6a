// Package ratelimit bounds what clients may do: how often, over all servers (Quotas)
// or on this one (Pacer), and how much at the same time (Addresses). Most limits
// hold for an address; Proxies finds the address of a call that comes through a
// proxy.
package ratelimit
