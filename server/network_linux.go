package server

import (
	"log/slog"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// networkFileSystems maps the kernel's magic numbers of network file systems to the names
// of the file systems.
var networkFileSystems = map[uint32]string{
	unix.NFS_SUPER_MAGIC: "nfs", unix.CIFS_SUPER_MAGIC: "cifs", unix.SMB2_SUPER_MAGIC: "smb2", unix.SMB_SUPER_MAGIC: "smb",
	unix.CEPH_SUPER_MAGIC: "ceph", unix.AFS_SUPER_MAGIC: "afs", unix.AFS_FS_MAGIC: "afs", unix.CODA_SUPER_MAGIC: "coda",
	unix.NCP_SUPER_MAGIC: "ncp", unix.V9FS_MAGIC: "9p",
}

// warnNetwork logs a warning if the store's file is on a network file system, where locks
// and the order of writes are unreliable.
func warnNetwork(file string, logger *slog.Logger) { warnNetworkOf(file, logger, unix.Statfs) }

func warnNetworkOf(file string, logger *slog.Logger, statfs func(dir string, of *unix.Statfs_t) error) {
	var of unix.Statfs_t
	// The directory may not exist yet.
	dir := filepath.Dir(file)
	for statfs(dir, &of) != nil {
		if dir == filepath.Dir(dir) {
			return
		}
		dir = filepath.Dir(dir)
	}
	if name, ok := networkFileSystems[uint32(of.Type)]; ok {
		logger.Warn("the store is on a network file system, which can damage it; --data names a directory on this machine",
			"id", "store-network", "directory", dir, "type", name)
	}
}
