package sqlite

import "os"

// inode returns 0: on Windows, an open file cannot be replaced.
func inode(os.FileInfo) uint64 { return 0 }

// owner returns no user: on Windows, users have no numbers.
func owner(os.FileInfo) (uid int, ok bool) { return 0, false }

// access returns an error if this process may not read and write a file.
func access(name string) error {
	f, err := os.OpenFile(name, os.O_RDWR, 0)
	if err == nil {
		_ = f.Close()
	}
	return err
}
