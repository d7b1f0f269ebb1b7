// Fixed-size binary records: write, read back, patch one in place, checksum.
package main

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
	"os"
)

type record struct {
	ID    uint32
	Kind  uint8
	Flags [3]byte
	Value float64
	Name  [12]byte
}

func newRecord(id uint32, name string, v float64) (r record) {
	r.ID, r.Kind, r.Value = id, uint8(id%5), v
	copy(r.Name[:], name)
	r.Flags[id%3] = 0xff
	return r
}

func main() {
	var buf bytes.Buffer
	names := []string{"alpha", "bêta", "你好", "🦀", "a name far too long"}
	for i, n := range names {
		if err := binary.Write(&buf, binary.BigEndian, newRecord(uint32(i+1), n, math.Sqrt(float64(i)))); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
	}
	size := binary.Size(record{})
	fmt.Println("record size", size, "file size", buf.Len())
	if err := os.WriteFile("records.bin", buf.Bytes(), 0o644); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	f, err := os.OpenFile("records.bin", os.O_RDWR, 0)
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	defer f.Close()
	patch := make([]byte, 8)
	binary.BigEndian.PutUint64(patch, math.Float64bits(-0.5))
	f.WriteAt(patch, int64(2*size+8))
	sum := crc32.NewIEEE()
	in := io.TeeReader(f, sum)
	for {
		var r record
		err := binary.Read(in, binary.BigEndian, &r)
		if errors.Is(err, io.EOF) {
			break
		}
		fmt.Printf("%d kind=%d flags=%x value=%.4f name=%q\n", r.ID, r.Kind, r.Flags, r.Value, bytes.TrimRight(r.Name[:], "\x00"))
	}
	fmt.Printf("crc %08x\n", sum.Sum32())
	fmt.Println(binary.Read(bytes.NewReader([]byte{1, 2}), binary.LittleEndian, new(uint32)))
	fmt.Printf("%x %x\n", binary.AppendUvarint(nil, 300), binary.AppendVarint(nil, -129))
}
