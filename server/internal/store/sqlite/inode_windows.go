package sqlite

import "os"

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
