package store

import (
	"bufio"
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
	// Time is when the dump was made, by the clock of its Redis, or when a server last used the file.
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

// WriteDump writes a dump to w. dump is Dumper.Dump, and at the time of the dumpHeader.
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
	errNoDump  = errors.New("it is neither a dump nor a backup")
	errDamaged = errors.New("it is damaged or incomplete")
)

// restoreBytes is the size of the lines that ReadDump restores at once.
const restoreBytes = 1 << 20

// ReadDump reads a dump from r, and calls restore with its items in batches. It moves the
// times at which data expires by the age of the dump at the time now, so that an old dump
// keeps its data for as long as it did when it was made. After an error, the items already
// passed to restore may be wrong.
func ReadDump(ctx context.Context, r io.Reader, now time.Time, restore func(context.Context, []Item) error, progress func(Counts)) (Counts, error) {
	unpacked, err := gzip.NewReader(r)
	switch {
	case errors.Is(err, gzip.ErrHeader), errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return Counts{}, errNoDump
	case err != nil: // r cannot be read: it is a directory, or its disk fails
		return Counts{}, err
	}
	lines, digest := bufio.NewReaderSize(unpacked, 64<<10), sha256.New()
	header, err := readHeader(lines, digest)
	if err != nil {
		return Counts{}, err
	}
	var (
		batch  []Item
		size   int
		counts Counts
	)
	for ended := false; !ended; {
		var item struct {
			Item
			dumpEnd
		}
		line, err := lines.ReadBytes('\n')
		if err == nil {
			err = json.Unmarshal(line, &item)
		}
		if err != nil {
			return counts, fmt.Errorf("%w (%w)", errDamaged, err)
		}
		if ended = item.End != nil; ended {
			_, more := lines.ReadByte()
			if *item.End != counts || item.SHA256 != hex.EncodeToString(digest.Sum(nil)) || !errors.Is(more, io.EOF) {
				return counts, errDamaged
			}
		} else {
			counts.add(item.Item)
			item.renew(header.Time, max(0, now.Sub(header.Time)))
			batch, size = append(batch, item.Item), size+len(line)
			digest.Write(line)
		}
		if size >= restoreBytes || ended {
			if err := restore(ctx, batch); err != nil {
				return counts, err
			}
			progress(counts)
			batch, size = nil, 0
		}
	}
	return counts, nil
}

// readHeader reads the first line of a dump, and adds it to the digest.
func readHeader(lines *bufio.Reader, digest hash.Hash) (header dumpHeader, err error) {
	line, err := lines.ReadBytes('\n')
	if err != nil {
		return header, fmt.Errorf("%w (%w)", errDamaged, err)
	}
	digest.Write(line)
	switch err := json.Unmarshal(line, &header); {
	case err != nil || header.Dump == 0:
		return header, errNoDump
	case header.Dump > dumpVersion:
		return header, newer("the version of the dump", header.Dump, dumpVersion)
	default:
		return header, CheckFormat(header.Format)
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
	return fmt.Errorf("it was written by a newer version of this program: %s is %d, and this program supports up to %d",
		what, found, supported)
}
