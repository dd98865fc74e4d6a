//go:build !linux

package server

import "log/slog"

// warnNetwork does nothing: only Linux tells.
func warnNetwork(string, *slog.Logger) {}
