package sqlite

import (
	"fmt"
	"unsafe"

	"modernc.org/libc"
	lib "modernc.org/sqlite/lib"
)

// This build of SQLite has STAT4 enabled, so it prepares a statement again whenever a
// bound value might change the plan. That took 27 of the 44 µs that an append took. The
// query planner stability guarantee turns this off. There is no PRAGMA for that setting,
// so an extension enables it on each connection that this process opens.
func init() {
	tls := libc.NewTLS()
	defer tls.Close()
	f := stablePlans
	// In modernc.org/libc, a pointer to a C function is a pointer to the value of a Go
	// function.
	if code := lib.Xsqlite3_auto_extension(tls, *(*uintptr)(unsafe.Pointer(&f))); code != lib.SQLITE_OK {
		panic(fmt.Sprintf("sqlite: registering an extension: code %d", code))
	}
}

// stablePlans enables the query planner stability guarantee. SQLite calls it for each new
// connection.
func stablePlans(tls *libc.TLS, db, _, _ uintptr) int32 {
	args := libc.NewVaList(int32(1), uintptr(0)) // 1 turns it on; 0 means that the result is not returned
	defer libc.Xfree(tls, args)
	return lib.Xsqlite3_db_config(tls, db, lib.SQLITE_DBCONFIG_ENABLE_QPSG, args)
}
