package language

import (
	"encoding/binary"
	"errors"
	"strings"
	"unicode/utf16"
)

// classFile is what the search for the main class needs of a class file (The
// Java Virtual Machine Specification, chapter 4).
type classFile struct {
	Name    string // the binary name with dots, e.g. com.example.Main$Inner
	Access  uint16
	Methods []classMethod // those called main or <init> that can matter for starting
}

type classMethod struct {
	Name, Descriptor string
	Access           uint16
}

// The descriptors of the methods that are kept: no arguments, or those of the
// command line.
const (
	noArguments     = "()V"
	stringArguments = "([Ljava/lang/String;)V"
)

// Access flags of classes and methods (JVMS tables 4.1-B and 4.6-A).
const (
	accPublic   = 0x0001
	accPrivate  = 0x0002
	accStatic   = 0x0008
	accAbstract = 0x0400
)

// Tags of the constant pool (JVMS table 4.4-A).
const (
	tagUTF8, tagInteger, tagFloat, tagLong, tagDouble          = 1, 3, 4, 5, 6
	tagClass, tagString, tagField, tagMethod, tagInterface     = 7, 8, 9, 10, 11
	tagNameAndType, tagMethodHandle, tagMethodType, tagDynamic = 12, 15, 16, 17
	tagInvokeDynamic, tagModule, tagPackage                    = 18, 19, 20
)

var errClassFile = errors.New("this is no class file")

// parseClass reads a class file. The compiler that wrote it worked for the
// user, so nothing in it is believed: every index and length is checked, and
// memory stays in proportion to the file.
func parseClass(data []byte) (classFile, error) {
	r := classReader{data: data}
	if r.u4() != 0xCAFEBABE {
		return classFile{}, errClassFile
	}
	r.skip(4) // minor and major version
	r.constants()
	c := classFile{Access: r.u2()}
	c.Name = r.className(r.u2())
	r.skip(2)               // super class
	r.skip(2 * int(r.u2())) // interfaces
	r.members(nil)          // fields
	r.members(&c.Methods)
	if r.failed || c.Name == "" {
		return classFile{}, errClassFile
	}
	return c, nil
}

// classReader reads big-endian numbers. After the first failure everything
// reads as zero.
type classReader struct {
	data   []byte
	pos    int
	failed bool
	pool   []int // the offset of each constant, after its tag; 0 for none
}

// skip passes over n bytes and returns them; nil when there are not so many.
func (r *classReader) skip(n int) []byte {
	if r.failed || n < 0 || n > len(r.data)-r.pos {
		r.failed = true
		return nil
	}
	r.pos += n
	return r.data[r.pos-n : r.pos]
}

func (r *classReader) u1() byte {
	if b := r.skip(1); b != nil {
		return b[0]
	}
	return 0
}

func (r *classReader) u2() uint16 {
	if b := r.skip(2); b != nil {
		return binary.BigEndian.Uint16(b)
	}
	return 0
}

func (r *classReader) u4() uint32 {
	if b := r.skip(4); b != nil {
		return binary.BigEndian.Uint32(b)
	}
	return 0
}

// constants notes where each constant is.
func (r *classReader) constants() {
	count := int(r.u2())
	r.pool = make([]int, count)
	for i := 1; i < count && !r.failed; i++ {
		tag := r.u1()
		r.pool[i] = r.pos
		switch tag {
		case tagUTF8:
			r.skip(int(r.u2()))
		case tagLong, tagDouble:
			r.skip(8)
			i++ // these take two places
		case tagInteger, tagFloat, tagField, tagMethod, tagInterface, tagNameAndType, tagDynamic, tagInvokeDynamic:
			r.skip(4)
		case tagMethodHandle:
			r.skip(3)
		case tagClass, tagString, tagMethodType, tagModule, tagPackage:
			r.skip(2)
		default:
			r.failed = true
		}
	}
}

// constant is a reader at the constant with an index, if it has that tag.
func (r *classReader) constant(index uint16, tag byte) (classReader, bool) {
	if int(index) >= len(r.pool) || r.pool[index] == 0 || r.data[r.pool[index]-1] != tag {
		r.failed = true
		return classReader{}, false
	}
	return classReader{data: r.data, pos: r.pool[index]}, true
}

// utf8 is the text of a constant as it is in the file.
func (r *classReader) utf8(index uint16) []byte {
	c, ok := r.constant(index, tagUTF8)
	if !ok {
		return nil
	}
	return c.skip(int(c.u2()))
}

// className is the name of a class constant, with dots.
func (r *classReader) className(index uint16) string {
	c, ok := r.constant(index, tagClass)
	if !ok {
		return ""
	}
	return strings.ReplaceAll(decodeModifiedUTF8(r.utf8(c.u2())), "/", ".")
}

// members reads fields or methods; nil passes over them. Texts are compared in
// place: 65,535 methods may share one name of 65,535 bytes.
func (r *classReader) members(into *[]classMethod) {
	for range int(r.u2()) {
		access, name, descriptor := r.u2(), r.u2(), r.u2()
		for range int(r.u2()) {
			r.skip(2) // the attribute's name
			r.skip(int(r.u4()))
			if r.failed {
				return
			}
		}
		if r.failed {
			return
		}
		if into != nil {
			r.keepMethod(into, access, name, descriptor)
		}
	}
}

// keepMethod adds a method if it can matter.
func (r *classReader) keepMethod(into *[]classMethod, access, name, descriptor uint16) {
	m := classMethod{Access: access}
	switch string(r.utf8(name)) {
	case "main":
		m.Name = "main"
	case "<init>":
		m.Name = "<init>"
	default:
		return
	}
	switch string(r.utf8(descriptor)) {
	case noArguments:
		m.Descriptor = noArguments
	case stringArguments:
		m.Descriptor = stringArguments
	default:
		return
	}
	*into = append(*into, m)
}

// decodeModifiedUTF8 decodes the class file's own UTF-8 (JVMS 4.4.7): a
// character beyond the basic plane is two surrogates of three bytes, and NUL is
// two bytes. Bytes that fit neither form stand for themselves.
func decodeModifiedUTF8(b []byte) string {
	units := make([]uint16, 0, len(b))
	for i := 0; i < len(b); {
		switch c := b[i]; {
		case c>>5 == 0b110 && i+1 < len(b):
			units = append(units, uint16(c&0x1F)<<6|uint16(b[i+1]&0x3F))
			i += 2
		case c>>4 == 0b1110 && i+2 < len(b):
			units = append(units, uint16(c&0x0F)<<12|uint16(b[i+1]&0x3F)<<6|uint16(b[i+2]&0x3F))
			i += 3
		default:
			units = append(units, uint16(c))
			i++
		}
	}
	return string(utf16.Decode(units))
}
