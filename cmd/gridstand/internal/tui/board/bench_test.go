package board

import (
	"testing"

	"github.com/charmbracelet/colorprofile"

	"github.com/gridstand/gridstand/cmd/gridstand/internal/tui/style"
	pb "github.com/gridstand/gridstand/proto/gridstand/v1"
)

func BenchmarkTwenty48(b *testing.B) {
	p := Twenty48{Board: &pb.Twenty48Board{Rows: 4, Columns: 4, Tiles: []int32{2, 0, 0, 4, 16, 0, 2, 8, 32, 64, 4, 16, 1024, 256, 128, 8}}, Marks: NoMarks}
	b.ReportAllocs()
	for b.Loop() {
		p.Draw(Size{Width: 7, Pitch: 4}, style.Theme{Profile: colorprofile.TrueColor})
	}
}
