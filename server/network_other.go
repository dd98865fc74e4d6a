//go:build !linux

package server

import "log/slog"

// warnNetwork does nothing, because the check is implemented only for Linux.
func warnNetwork(string, *slog.Logger) {}
