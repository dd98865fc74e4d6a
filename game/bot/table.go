package bot

// table is a transposition table: it keeps the values of boards, which a search reaches
// in many ways. It is direct-mapped: a board has one place, where it replaces another.
// A decision does not read entries of earlier ones, so that decisions are independent.
type table struct {
	entries  []entry
	shift    int
	decision uint32 // the current one, from 1
}

type entry struct {
	key   uint64
	value float32
	// The decision, and in the low byte the depth; 0 if the entry is empty.
	stamp uint32
}

// tableBits gives 1 MiB of entries.
const tableBits = 16

func newTable() table {
	return table{entries: make([]entry, 1<<tableBits), shift: 64 - tableBits}
}

// forget begins a new decision.
func (t *table) forget() {
	if t.decision++; t.decision == 1<<24 {
		clear(t.entries)
		t.decision = 1
	}
}

// at is the place of a key. The top bits of the product depend on all bits of the key.
func (t *table) at(key uint64) *entry {
	return &t.entries[key*0x9e3779b97f4a7c15>>t.shift]
}

// get returns the value found for key at that depth.
func (t *table) get(key uint64, depth int) (float32, bool) {
	e := t.at(key)
	return e.value, e.key == key && e.stamp == t.stamp(depth)
}

func (t *table) put(key uint64, depth int, value float32) {
	*t.at(key) = entry{key, value, t.stamp(depth)}
}

func (t *table) stamp(depth int) uint32 { return t.decision<<8 | uint32(depth) }
