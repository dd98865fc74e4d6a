package sqlite

import (
	"time"

	sqlite3 "zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"
)

// exec runs a statement without reading its result. Each connection prepares a statement
// only once, so the text must be constant. The arguments are bound in order.
func exec(c *sqlite3.Conn, text string, args ...any) error {
	return each(c, text, nil, args...)
}

// execEach is like exec, but runs the statement once for each of the given values. The
// statement's first parameter is the value; args are the others.
func execEach(c *sqlite3.Conn, text string, values []string, args ...any) error {
	for _, value := range values {
		if err := exec(c, text, append([]any{value}, args...)...); err != nil {
			return err
		}
	}
	return nil
}

// execAll is like exec, but runs several statements with the same arguments, until one fails: that may
// have ended the transaction, and the next ones would be committed by themselves.
func execAll(c *sqlite3.Conn, texts []string, args ...any) error {
	for _, text := range texts {
		if err := exec(c, text, args...); err != nil {
			return err
		}
	}
	return nil
}

// query runs a statement and calls row for each row of its result.
func query(c *sqlite3.Conn, text string, row func(s *sqlite3.Stmt), args ...any) error {
	return each(c, text, func(s *sqlite3.Stmt) error {
		row(s)
		return nil
	}, args...)
}

// each is like query, but ends with the first error of row, and skips the rows if row is nil. It replaces
// the times in args by their milliseconds, and the zero time by NULL.
func each(c *sqlite3.Conn, text string, row func(s *sqlite3.Stmt) error, args ...any) error {
	for i, arg := range args {
		switch at, ok := arg.(time.Time); {
		case ok && at.IsZero():
			args[i] = nil
		case ok:
			args[i] = at.UnixMilli()
		}
	}
	return sqlitex.Execute(c, text, &sqlitex.ExecOptions{Args: args, ResultFunc: row})
}

// all returns what scan reads from each row of a query's result.
func all[T any](c *sqlite3.Conn, text string, scan func(s *sqlite3.Stmt) T, args ...any) (values []T, err error) {
	err = query(c, text, func(s *sqlite3.Stmt) { values = append(values, scan(s)) }, args...)
	return values, err
}

// one returns what scan reads from the only row of a query's result, or false if there is
// none.
func one[T any](c *sqlite3.Conn, text string, scan func(s *sqlite3.Stmt) T, args ...any) (value T, found bool, err error) {
	err = query(c, text, func(s *sqlite3.Stmt) { value, found = scan(s), true }, args...)
	return value, found, err
}

// has reports whether a query's result has any rows.
func has(c *sqlite3.Conn, text string, args ...any) (found bool, err error) {
	err = query(c, text, func(*sqlite3.Stmt) { found = true }, args...)
	return found, err
}

// number returns the only number in a query's result, or 0 if there is none.
func number(c *sqlite3.Conn, text string, args ...any) (n int64, err error) {
	n, _, err = one(c, text, firstInt, args...)
	return n, err
}

func firstText(s *sqlite3.Stmt) string { return s.ColumnText(0) }

func firstInt(s *sqlite3.Stmt) int64 { return s.ColumnInt64(0) }

// blob returns a copy of a column.
func blob(s *sqlite3.Stmt, column int) []byte {
	b := make([]byte, s.ColumnLen(column))
	s.ColumnBytes(column, b)
	return b
}

// timeAt returns a column as a time, or the zero time for NULL.
func timeAt(s *sqlite3.Stmt, column int) time.Time {
	if s.ColumnIsNull(column) {
		return time.Time{}
	}
	return time.UnixMilli(s.ColumnInt64(column)).UTC()
}
