package sqlite

import (
	"fmt"
	"time"

	sqlite3 "zombiezen.com/go/sqlite"
)

// exec runs a statement without reading its result. Each connection prepares a statement
// only once, so the text must be constant. The arguments are bound in order.
func exec(c *sqlite3.Conn, text string, args ...any) error {
	return query(c, text, nil, args...)
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

// query runs a statement and calls row for each row of its result. If row is nil, the
// rows are skipped.
func query(c *sqlite3.Conn, text string, row func(s *sqlite3.Stmt), args ...any) error {
	s, err := c.Prepare(text)
	if err != nil {
		return err
	}
	for i, arg := range args {
		if err := bind(s, i+1, arg); err != nil {
			return err
		}
	}
	for {
		more, err := s.Step()
		if err != nil {
			return err
		}
		if !more {
			// Reading the last row has reset the statement.
			return nil
		}
		if row != nil {
			row(s)
		}
	}
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

func firstText(s *sqlite3.Stmt) string { return s.ColumnText(0) }

func firstInt(s *sqlite3.Stmt) int64 { return s.ColumnInt64(0) }

func bind(s *sqlite3.Stmt, i int, arg any) error {
	switch v := arg.(type) {
	case nil:
		s.BindNull(i)
	case int64:
		s.BindInt64(i, v)
	case int:
		s.BindInt64(i, int64(v))
	case int32:
		s.BindInt64(i, int64(v))
	case uint64:
		s.BindInt64(i, int64(v))
	case bool:
		s.BindBool(i, v)
	case string:
		s.BindText(i, v)
	case []byte:
		s.BindBytes(i, v)
	case time.Time: // in milliseconds; the zero time is NULL
		if v.IsZero() {
			s.BindNull(i)
		} else {
			s.BindInt64(i, v.UnixMilli())
		}
	default:
		return fmt.Errorf("unsupported type of a statement argument: %T", arg)
	}
	return nil
}

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
