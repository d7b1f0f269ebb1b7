package language

import (
	"encoding/binary"
	"strings"
	"testing"
)

// classBuilder writes class files for tests.
type classBuilder struct {
	pool  []byte
	count uint16
}

func (b *classBuilder) utf8(text string) uint16 {
	b.pool = append(b.pool, tagUTF8)
	b.pool = binary.BigEndian.AppendUint16(b.pool, uint16(len(text)))
	b.pool = append(b.pool, text...)
	b.count++
	return b.count
}

func (b *classBuilder) class(name string) uint16 {
	index := b.utf8(name)
	b.pool = append(b.pool, tagClass)
	b.pool = binary.BigEndian.AppendUint16(b.pool, index)
	b.count++
	return b.count
}

// buildClass makes a class whose methods have one attribute each. The pool
// begins with a number that takes two places.
func buildClass(name string, access uint16, methods ...classMethod) []byte {
	b := classBuilder{pool: []byte{tagLong, 1, 2, 3, 4, 5, 6, 7, 8}, count: 2}
	this := b.class(name)
	var body []byte
	for _, m := range methods {
		for _, u := range []uint16{m.Access, b.utf8(m.Name), b.utf8(m.Descriptor), 1, this} {
			body = binary.BigEndian.AppendUint16(body, u)
		}
		body = append(body, 0, 0, 0, 3, 'x', 'y', 'z') // an attribute
	}
	out := []byte{0xCA, 0xFE, 0xBA, 0xBE, 0, 0, 0, 61}
	out = binary.BigEndian.AppendUint16(out, b.count+1)
	out = append(out, b.pool...)
	for _, u := range []uint16{access, this, this, 0, 0, uint16(len(methods))} {
		out = binary.BigEndian.AppendUint16(out, u)
	}
	return append(out, body...)
}

func TestStartable(t *testing.T) {
	constructor := classMethod{"<init>", noArguments, accPublic}
	for _, c := range []struct {
		name           string
		access         uint16
		methods        []classMethod
		rigid, relaxed bool
	}{
		{"classic", accPublic, []classMethod{{"main", stringArguments, accPublic | accStatic}}, true, true},
		{"not public", 0, []classMethod{{"main", stringArguments, accStatic}}, false, true},
		{"private", 0, []classMethod{{"main", stringArguments, accStatic | accPrivate}}, false, false},
		{"no arguments", 0, []classMethod{{"main", noArguments, accPublic | accStatic}}, false, true},
		{"instance", 0, []classMethod{constructor, {"main", noArguments, 0}}, false, true},
		{"instance without constructor", 0, []classMethod{{"main", noArguments, 0}}, false, false},
		{"instance of an abstract class", accAbstract, []classMethod{constructor, {"main", noArguments, 0}}, false, false},
		{"another main", 0, []classMethod{constructor, {"main", "(I)V", accPublic | accStatic}}, false, false},
		{"static in an interface", accAbstract, []classMethod{{"main", stringArguments, accPublic | accStatic}}, true, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			class, err := parseClass(buildClass("a/B", c.access, c.methods...))
			if err != nil {
				t.Fatal(err)
			}
			if class.Name != "a.B" || class.startable(false) != c.rigid || class.startable(true) != c.relaxed {
				t.Errorf("%+v: %v, %v", class, class.startable(false), class.startable(true))
			}
		})
	}
}

func TestFindMainClass(t *testing.T) {
	main := classMethod{"main", stringArguments, accPublic | accStatic}
	tree := memoryTree{files: map[string][]byte{
		"classes/A$In.class":    buildClass("A$In", 0, main),
		"classes/z/Z.class":     buildClass("z/Z", 0, main),
		"classes/b/B.class":     buildClass("b/B", 0, main),
		"classes/Broken.class":  []byte("no class"),
		"elsewhere/First.class": buildClass("First", 0, main),
	}}
	for _, c := range []struct {
		order []string
		want  string
	}{{[]string{"X", "z.Z", "b.B"}, "z.Z"}, {nil, "b.B"}, {[]string{"First"}, "b.B"}} {
		if got, err := findMainClass(tree, c.order, false); got != c.want || err != nil {
			t.Errorf("order %q: %q, %v, want %q", c.order, got, err, c.want)
		}
	}
}

func TestParseClassRefuses(t *testing.T) {
	whole := buildClass("A", 0, classMethod{"main", stringArguments, accPublic | accStatic})
	for length := range whole {
		if class, err := parseClass(whole[:length]); err == nil {
			t.Errorf("%d of %d bytes give %+v", length, len(whole), class)
		}
	}
}

func TestParseClassRefusesAnotherConstant(t *testing.T) {
	data := buildClass("Abc", 0) // as an index, the length of the text is that of the text
	this := data[len(data)-10:]  // and six more numbers of two bytes
	binary.BigEndian.PutUint16(this, binary.BigEndian.Uint16(this)-1)
	if class, err := parseClass(data); err == nil {
		t.Errorf("a text as the class gives %+v", class)
	}
}

func TestDecodeModifiedUTF8(t *testing.T) {
	for in, want := range map[string]string{
		"Main": "Main", "Größe": "Größe", "\xed\xa0\xb5\xed\xb2\xb3": "𝒳", "\xc0\x80": "\x00", "\xe4": "ä",
	} {
		if got := decodeModifiedUTF8([]byte(in)); got != want {
			t.Errorf("%q gives %q, want %q", in, got, want)
		}
	}
}

func FuzzParseClass(f *testing.F) {
	f.Add(buildClass("a/B", accPublic, classMethod{"main", stringArguments, accPublic | accStatic}, classMethod{"<init>", noArguments, 0}))
	f.Add([]byte("\xca\xfe\xba\xbe"))
	f.Fuzz(func(t *testing.T, data []byte) {
		class, err := parseClass(data)
		if err != nil {
			return
		}
		if class.Name == "" || strings.Contains(class.Name, "/") || len(class.Methods)*8 > len(data) {
			t.Errorf("%d bytes give %+v", len(data), class)
		}
	})
}
