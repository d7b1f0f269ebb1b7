package bench_test

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/sandbox-run/sandbox-run/internal/bench"
)

// A plot is sound XML, whatever is written on it, and has a mark for each point.
func TestPlot(t *testing.T) {
	for name, c := range map[string]struct {
		plot   bench.Plot
		points int
		has    []string
	}{
		"lines": {bench.Plot{Title: "a < b & \"c\"", X: "clients", Y: "runs/s", LogX: true, Lines: []bench.Line{
			{Name: "bare", X: []float64{1, 2, 4, 16}, Y: []float64{10, 20, 21, 22}}, {Name: "</svg>", X: []float64{1, 16}, Y: []float64{5, 178}},
		}}, 6, []string{">a &lt; b &amp; &#34;c&#34;</text>", ">&lt;/svg&gt;</text>", ">200</text>", ">16</text>"}},
		"nothing":   {bench.Plot{Title: "empty"}, 0, []string{">empty</text>"}},
		"one point": {bench.Plot{Lines: []bench.Line{{Name: "x", X: []float64{3}, Y: []float64{0}}}}, 1, []string{">3</text>", ">1</text>"}},
	} {
		t.Run(name, func(t *testing.T) {
			svg := c.plot.SVG()
			for d := xml.NewDecoder(strings.NewReader(svg)); ; {
				if _, err := d.Token(); errors.Is(err, io.EOF) {
					break
				} else if err != nil {
					t.Fatalf("%v in %s", err, svg)
				}
			}
			if n := strings.Count(svg, "<circle "); n != c.points {
				t.Errorf("%d points", n)
			}
			for _, text := range append(c.has, "<svg xmlns=") {
				if !strings.Contains(svg, text) {
					t.Errorf("no %s in %s", text, svg)
				}
			}
			if strings.Contains(svg, "NaN") || strings.Contains(svg, "Inf") {
				t.Error(svg)
			}
		})
	}
}
