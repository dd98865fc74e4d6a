package server

import (
	"bytes"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/assert"
	"golang.org/x/sys/unix"
)

// Ensure that a store on a network file system causes a warning that names the closest
// existing directory, and that a store on a local disk causes none.
func TestWarnNetwork(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		number int64
		want   string
	}{
		"nfs": {unix.NFS_SUPER_MAGIC, "id=store-network directory=/games type=nfs"},
		// On some platforms, the type field has 32 bits, so this magic number is negative.
		"smb2":                    {int64(int32(-0x01acb2be)), "id=store-network directory=/games type=smb2"},
		"ext4":                    {unix.EXT4_SUPER_MAGIC, ""},
		"nothing that can answer": {0, ""},
	} {
		var log bytes.Buffer
		warnNetworkOf("/games/new/store.db", slog.New(slog.NewTextHandler(&log, nil)), func(dir string, of *unix.Statfs_t) error {
			if dir != "/games" || test.number == 0 {
				return unix.ENOENT
			}
			of.Type = test.number
			return nil
		})
		if test.want == "" {
			assert.Empty(t, log.String(), name)
		} else {
			assert.Contains(t, log.String(), test.want, name)
		}
	}
}
