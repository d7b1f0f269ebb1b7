package soak

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
)

// trend is the straight line of least squares through figures.
type trend struct {
	slope float64 // per 1,000 runs
	err   float64 // its standard error
	n     int     // how many figures there are
}

// fit lays a line through what was read after so many runs.
func fit(after []int, figures []float64) trend {
	n := float64(len(figures))
	var x, y, xx, xy float64
	for i, f := range figures {
		x += float64(after[i]) / 1000 / n
		y += f / n
	}
	for i, f := range figures {
		dx := float64(after[i])/1000 - x
		xx += dx * dx
		xy += dx * (f - y)
	}
	if len(figures) < 3 || xx == 0 {
		return trend{slope: math.NaN(), n: len(figures)}
	}
	t := trend{slope: xy / xx, n: len(figures)}
	for i, f := range figures {
		d := f - y - t.slope*(float64(after[i])/1000-x)
		t.err += d * d
	}
	t.err = math.Sqrt(t.err / (n - 2) / xx)
	return t
}

// grows tells whether the slope is above a bound, and not by chance: in one of 1,000
// series of figures that only waver it says so too.
func (t trend) grows(bound float64) bool {
	return math.IsNaN(t.slope) || t.slope-quantile(t.n-2)*t.err > bound
}

// quantile is about the 0.999 quantile of Student's distribution, by the expansion of
// Abramowitz and Stegun, 26.7.5.
func quantile(freedom int) float64 {
	const z = 3.0902 // of the normal distribution
	n := float64(freedom)
	return z + (z*z*z+z)/(4*n) + (5*math.Pow(z, 5)+16*z*z*z+3*z)/(96*n*n) +
		(3*math.Pow(z, 7)+19*math.Pow(z, 5)+17*z*z*z-15*z)/(384*n*n*n)
}

// judge makes the table of what was read at rest, and names the figures that grow.
func judge(after []int, samples []sample) (table string, growing []string) {
	var b strings.Builder
	b.WriteString("| figure, at rest | first | ¼ | ½ | ¾ | last | slope per 1,000 runs | |\n|---|--:|--:|--:|--:|--:|--:|---|\n")
	for _, f := range figures {
		values := make([]float64, len(samples))
		for i, s := range samples {
			values[i] = s[f.name]
		}
		line, verdict := fit(after, values), "does not grow"
		switch {
		case f.name == keptGroups && math.IsNaN(values[0]):
			verdict = "cannot be read here"
		case *race && f.bound > 0:
			verdict = "the race detector's own"
		case f.name == keptGroups && *warm != "off":
			verdict = "judged when the server has ended"
		case line.grows(f.bound):
			verdict = "**grows**"
			growing = append(growing, fmt.Sprintf("%s: %.3f ± %.3f more in 1,000 runs: %v", f.name, line.slope, line.err, values))
		case slices.Min(values) == slices.Max(values):
			verdict = "never changes"
		}
		fmt.Fprintf(&b, "| %s |", f.name)
		for quarter := range 5 {
			fmt.Fprintf(&b, " %g |", math.Round(values[quarter*(len(values)-1)/4]*100)/100)
		}
		fmt.Fprintf(&b, " %.3f ± %.3f | %s |\n", math.Round(line.slope*1000)/1000+0, line.err, verdict)
	}
	return b.String(), growing
}

func TestFit(t *testing.T) {
	after := []int{100, 200, 300, 400, 500, 600, 700, 800, 900, 1000}
	for name, c := range map[string]struct {
		figures []float64
		bound   float64
		slope   float64
		grows   bool
	}{
		"the same":          {[]float64{7, 7, 7, 7, 7, 7, 7, 7, 7, 7}, 0, 0, false},
		"one each time":     {[]float64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, 0, 10, true},
		"one now and then":  {[]float64{7, 7, 8, 8, 8, 9, 9, 10, 10, 10}, 0, 3.758, true},
		"under the bound":   {[]float64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, 10, 10, false},
		"over the bound":    {[]float64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, 9, 10, true},
		"wavering":          {[]float64{7, 8, 7, 7, 8, 7, 8, 7, 7, 8}, 0, 0.242, false},
		"one that went":     {[]float64{9, 7, 7, 7, 7, 7, 7, 7, 7, 7}, 0, -1.091, false},
		"one that came":     {[]float64{7, 7, 7, 7, 7, 7, 7, 7, 7, 8}, 0, 0.545, false},
		"falling":           {[]float64{10, 9, 8, 7, 6, 5, 4, 3, 2, 1}, 0, -10, false},
		"wavering and more": {[]float64{10, 12, 11, 14, 13, 15, 15, 17, 16, 18}, 0, 8.182, true},
	} {
		line := fit(after, c.figures)
		if math.Abs(line.slope-c.slope) > 0.001 || line.grows(c.bound) != c.grows {
			t.Errorf("%s: slope %.3f ± %.3f, grows: %v", name, line.slope, line.err, line.grows(c.bound))
		}
	}
	if !fit(after[:2], []float64{1, 1}).grows(0) {
		t.Error("two figures are no series")
	}
	for freedom, want := range map[int]float64{3: 10.215, 8: 4.501, 28: 3.408, 98: 3.176} { // of printed tables
		if got := quantile(freedom); math.Abs(got-want)/want > 0.2 {
			t.Errorf("the quantile for %d is %.3f, want %.3f", freedom, got, want)
		}
	}
}

// A leak of one figure makes the whole red, whatever the others do.
func TestLeakIsRed(t *testing.T) {
	if *race {
		t.Skip("figures of memory are not judged under the race detector")
	}
	for _, leak := range figures {
		if leak.name == keptGroups && *warm != "off" {
			continue
		}
		var after []int
		var samples []sample
		for i := range 12 {
			s := sample{}
			for _, f := range figures {
				s[f.name] = 20 + float64(i%2)
			}
			s[leak.name] += (leak.bound + 1) * float64(i)
			after, samples = append(after, 100*i), append(samples, s)
		}
		if _, growing := judge(after, samples); len(growing) != 1 || !strings.HasPrefix(growing[0], leak.name+": ") {
			t.Errorf("a leak of %s is seen as %q", leak.name, growing)
		}
		for _, s := range samples {
			s[leak.name] = math.NaN()
		}
		if _, growing := judge(after, samples); (len(growing) == 1) == (leak.name == keptGroups) {
			t.Errorf("%s cannot be read, which is seen as %q", leak.name, growing)
		}
	}
}
