package bot

// table is a transposition table: it stores the values of boards, which a search can reach by
// many sequences of moves. It is direct-mapped: each board maps to one slot, where it replaces
// the previous entry. A decision ignores entries from earlier decisions, so that decisions are
// independent.
type table struct {
	entries  []entry // 1<<tableBits entries
	decision uint32  // number of the current decision, from 1
}

type entry struct {
	key   uint64
	value float32
	// stamp is the decision's number with the depth in the low byte, or 0 if the entry is
	// empty.
	stamp uint32
}

// tableBits is the base-2 logarithm of the number of entries in a table. The entries take 1
// MiB.
const tableBits = 16

func newTable() table { return table{entries: make([]entry, 1<<tableBits)} }

// forget starts a new decision, which ignores all existing entries.
func (t *table) forget() {
	if t.decision++; t.decision == 1<<24 {
		clear(t.entries)
		t.decision = 1
	}
}

// at returns key's slot. The top bits of the product depend on all bits of key.
func (t *table) at(key uint64) *entry {
	return &t.entries[key*0x9e3779b97f4a7c15>>(64-tableBits)]
}

// get returns the value stored for key at the given depth.
func (t *table) get(key uint64, depth int) (float32, bool) {
	e := t.at(key)
	return e.value, e.key == key && e.stamp == t.stamp(depth)
}

func (t *table) put(key uint64, depth int, value float32) {
	*t.at(key) = entry{key, value, t.stamp(depth)}
}

func (t *table) stamp(depth int) uint32 { return t.decision<<8 | uint32(depth) }
