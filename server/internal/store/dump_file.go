package store

import (
	"bufio"
	"compress/flate"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"time"
)

// A dump is a gzip file of lines, each a JSON object: a dumpHeader, any number of Items,
// and a dumpEnd. The end tells a complete dump from one that was cut.

// dumpVersion is the version of this format and of the fields of Item. Raise it with each
// change that earlier versions of the program cannot read.
const dumpVersion = 1

// dumpHeader is the first line of a dump.
type dumpHeader struct {
	// Dump is the version of the file's format, and Format that of the data in it.
	Dump, Format int
	// Time is when the dump was made, by the clock of its store.
	Time time.Time
}

// dumpEnd is the last line of a dump: what the dump contains, and the digest of all lines
// before this one, in hexadecimal.
type dumpEnd struct {
	End    *Counts
	SHA256 string
}

// Counts is the number of complete games, of the entries of all logs, of accounts, and of
// challenges in a dump.
type Counts struct{ Games, Entries, Accounts, Challenges int }

func (c *Counts) add(i Item) {
	switch {
	case i.Log != nil:
		c.Entries += len(i.Log.Entries)
	case i.Head != nil:
		c.Games++
	case i.Account != nil:
		c.Accounts++
	case i.Challenge != nil:
		c.Challenges++
	}
}

// WriteDump writes a dump to w. dump is Dumper.Dump, and at the time by the store's clock.
// WriteDump calls progress with the counts so far after each item.
func WriteDump(ctx context.Context, w io.Writer, at time.Time, dump func(context.Context, func(Item) error) error, progress func(Counts)) (Counts, error) {
	packed, err := gzip.NewWriterLevel(w, gzip.BestSpeed)
	if err != nil {
		return Counts{}, err
	}
	digest, counts := sha256.New(), Counts{}
	lines := json.NewEncoder(io.MultiWriter(packed, digest))
	if err := lines.Encode(dumpHeader{Dump: dumpVersion, Format: Format, Time: at.UTC()}); err != nil {
		return counts, err
	}
	err = dump(ctx, func(i Item) error {
		counts.add(i)
		progress(counts)
		return lines.Encode(i)
	})
	if err == nil {
		err = lines.Encode(dumpEnd{&counts, hex.EncodeToString(digest.Sum(nil))})
	}
	return counts, errors.Join(err, packed.Close())
}

// Errors of ReadDump.
var (
	errNoDump  = errors.New("it is not a dump")
	errCut     = errors.New("it is cut: the end is missing")
	errChanged = errors.New("it is damaged: its digest or its counts are wrong")
)

// restoreBytes is the size of the lines that ReadDump restores at once.
const restoreBytes = 1 << 20

// ReadDump reads a dump from r, and calls restore with its items in batches. It moves the
// times at which data expires by the age of the dump at the time now, so that an old dump
// keeps its data for as long as it did when it was made. After an error, the items already
// passed to restore may be wrong.
func ReadDump(ctx context.Context, r io.Reader, now time.Time, restore func(context.Context, []Item) error, progress func(Counts)) (Counts, error) {
	d, header, err := openDump(r)
	if err != nil {
		return Counts{}, err
	}
	var (
		batch  []Item
		size   int
		counts Counts
	)
	for {
		line, err := d.line()
		if err != nil {
			return counts, err
		}
		var item struct {
			Item
			dumpEnd
		}
		if err := json.Unmarshal(line, &item); err != nil {
			return counts, fmt.Errorf("%w (%w)", errChanged, err)
		}
		if item.End == nil {
			counts.add(item.Item)
			item.renew(max(0, now.Sub(header.Time)))
			batch, size = append(batch, item.Item), size+len(line)
			d.digest.Write(line)
		} else if *item.End != counts || item.SHA256 != hex.EncodeToString(d.digest.Sum(nil)) {
			return counts, errChanged
		}
		if size >= restoreBytes || item.End != nil {
			if err := restore(ctx, batch); err != nil {
				return counts, err
			}
			progress(counts)
			batch, size = nil, 0
		}
		if item.End != nil {
			return counts, d.end()
		}
	}
}

// dumpReader reads the lines of a dump.
type dumpReader struct {
	lines  *bufio.Reader
	digest hash.Hash // of the lines so far, without the end
}

// openDump reads the first line of a dump.
func openDump(r io.Reader) (d dumpReader, header dumpHeader, err error) {
	unpacked, err := gzip.NewReader(r)
	if err != nil {
		return d, header, errNoDump
	}
	d = dumpReader{bufio.NewReaderSize(unpacked, 64<<10), sha256.New()}
	line, err := d.line()
	if err != nil {
		return d, header, err
	}
	d.digest.Write(line)
	switch err := json.Unmarshal(line, &header); {
	case err != nil || header.Dump == 0:
		return d, header, errNoDump
	case header.Dump > dumpVersion:
		return d, header, newer("the version of the dump", header.Dump, dumpVersion)
	default:
		return d, header, CheckFormat(header.Format)
	}
}

func (d dumpReader) line() ([]byte, error) {
	line, err := d.lines.ReadBytes('\n')
	return line, unpackError(err)
}

// end returns an error if anything follows the last line.
func (d dumpReader) end() error {
	switch _, err := d.lines.ReadByte(); {
	case err == nil:
		return errChanged
	case errors.Is(err, io.EOF):
		return nil
	default:
		return unpackError(err)
	}
}

func unpackError(err error) error {
	var invalid flate.CorruptInputError
	switch {
	case err == nil:
		return nil
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return errCut
	case errors.Is(err, gzip.ErrChecksum), errors.Is(err, gzip.ErrHeader), errors.As(err, &invalid):
		return errChanged
	default:
		return err
	}
}

// CheckFormat returns an error if data in the given format needs a newer version of the
// program.
func CheckFormat(format int) error {
	if format > Format {
		return newer("the format of its games", format, Format)
	}
	return nil
}

func newer(what string, found, supported int) error {
	return fmt.Errorf("it was written by a newer version of this program: %s is %d, and this program supports up to %d", what, found, supported)
}
