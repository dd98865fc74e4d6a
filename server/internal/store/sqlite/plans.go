package sqlite

import (
	"fmt"
	"unsafe"

	"modernc.org/libc"
	lib "modernc.org/sqlite/lib"
)

// SQLite is built with STAT4 here. It then prepares a statement again whenever a bound
// value might change the plan, which took 27 of the 44 µs of an append. The query
// planner stability guarantee turns that off. It has no PRAGMA, so each connection that
// this process opens gets it by an extension.
func init() {
	tls := libc.NewTLS()
	defer tls.Close()
	f := stablePlans
	// A pointer to a C function is, in modernc.org/libc, that to a Go function's value.
	if code := lib.Xsqlite3_auto_extension(tls, *(*uintptr)(unsafe.Pointer(&f))); code != lib.SQLITE_OK {
		panic(fmt.Sprintf("sqlite: registering an extension: code %d", code))
	}
}

// stablePlans is called with each new connection.
func stablePlans(tls *libc.TLS, db, _, _ uintptr) int32 {
	args := libc.NewVaList(int32(1), uintptr(0)) // on; no result wanted
	defer libc.Xfree(tls, args)
	return lib.Xsqlite3_db_config(tls, db, lib.SQLITE_DBCONFIG_ENABLE_QPSG, args)
}
