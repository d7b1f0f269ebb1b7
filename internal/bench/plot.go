package bench

import (
	"fmt"
	"html"
	"math"
	"strings"
)

// Line is one line of a [Plot].
type Line struct {
	Name string
	X, Y []float64 // of the same length
}

// Plot is a figure with straight lines between points, as SVG that any browser and GitHub
// show. Its y axis begins at 0, and so compares what it shows.
type Plot struct {
	Title, X, Y string
	Lines       []Line
	// LogX has equal factors of x, which must be above 0, take equal space.
	LogX bool
}

// Where things are in a plot, in its own units.
const (
	plotWidth, plotHeight                  = 640, 360
	plotLeft, plotRight, plotTop, plotFoot = 64, 150, 40, 48
	plotTicks                              = 5
)

// plotColours are told apart by people who do not see red and green (Okabe and Ito, 2008).
var plotColours = []string{"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000"}

// SVG draws it.
func (p Plot) SVG() string {
	xs, top := p.extent()
	left, right := p.scale(xs[0]), p.scale(xs[len(xs)-1])
	at := func(x, y float64) (float64, float64) {
		share := 0.5
		if right > left {
			share = (p.scale(x) - left) / (right - left)
		}
		return plotLeft + share*(plotWidth-plotLeft-plotRight), plotHeight - plotFoot - y/top*(plotHeight-plotTop-plotFoot)
	}
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="sans-serif" font-size="12">`+"\n", plotWidth, plotHeight)
	fmt.Fprintf(&b, `<rect width="%d" height="%d" fill="white"/>`+"\n", plotWidth, plotHeight)
	text := func(x, y float64, anchor, more, s string) {
		fmt.Fprintf(&b, `<text x="%.1f" y="%.1f" text-anchor="%s"%s>%s</text>`+"\n", x, y, anchor, more, html.EscapeString(s))
	}
	text(plotLeft, 20, "start", ` font-weight="bold"`, p.Title)
	text((plotLeft+plotWidth-plotRight)/2, plotHeight-10, "middle", "", p.X)
	text(16, plotHeight/2, "middle", fmt.Sprintf(` transform="rotate(-90 16 %d)"`, plotHeight/2), p.Y)
	for i := range plotTicks + 1 {
		y := top * float64(i) / plotTicks
		x1, level := at(xs[0], y)
		x2, _ := at(xs[len(xs)-1], y)
		fmt.Fprintf(&b, `<path d="M%.1f %.1fH%.1f" stroke="#ddd"/>`+"\n", x1, level, x2)
		text(x1-6, level+4, "end", "", fmt.Sprintf("%.4g", y))
	}
	for _, x := range xs {
		along, foot := at(x, 0)
		text(along, foot+18, "middle", "", fmt.Sprintf("%.4g", x))
	}
	for i, l := range p.Lines {
		p.line(&b, i, l, at)
	}
	b.WriteString("</svg>\n")
	return b.String()
}

func (p Plot) line(b *strings.Builder, i int, l Line, at func(x, y float64) (float64, float64)) {
	colour := plotColours[i%len(plotColours)]
	var path strings.Builder
	for j := range l.X {
		x, y := at(l.X[j], l.Y[j])
		fmt.Fprintf(&path, "%c%.1f %.1f", "ML"[min(j, 1)], x, y)
		fmt.Fprintf(b, `<circle cx="%.1f" cy="%.1f" r="3" fill="%s"/>`+"\n", x, y, colour)
	}
	fmt.Fprintf(b, `<path d="%s" fill="none" stroke="%s" stroke-width="2"/>`+"\n", path.String(), colour)
	row := float64(plotTop + 8 + 18*i)
	fmt.Fprintf(b, `<path d="M%d %.1fh16" stroke="%s" stroke-width="2"/>`+"\n", plotWidth-plotRight+10, row, colour)
	fmt.Fprintf(b, `<text x="%d" y="%.1f">%s</text>`+"\n", plotWidth-plotRight+30, row+4, html.EscapeString(l.Name))
}

func (p Plot) scale(x float64) float64 {
	if p.LogX {
		return math.Log(x)
	}
	return x
}

// extent is every x that has a point, in order, and the top of the y axis: a round number.
func (p Plot) extent() (xs []float64, top float64) {
	for _, l := range p.Lines {
		for j, x := range l.X {
			at := 0
			for at < len(xs) && xs[at] < x {
				at++
			}
			if at == len(xs) || xs[at] != x {
				xs = append(xs[:at], append([]float64{x}, xs[at:]...)...)
			}
			top = max(top, l.Y[j])
		}
	}
	if len(xs) == 0 {
		xs = []float64{1}
	}
	if top <= 0 {
		return xs, 1
	}
	unit := math.Pow(10, math.Floor(math.Log10(top)))
	for _, step := range []float64{1, 1.5, 2, 2.5, 3, 4, 5, 7.5, 10} {
		if step*unit >= top {
			return xs, step * unit
		}
	}
	return xs, top
}
