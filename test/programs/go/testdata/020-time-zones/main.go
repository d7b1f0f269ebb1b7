// Parsing, formatting and arithmetic on instants, with fixed zones only.
package main

import (
	"fmt"
	"time"
)

func main() {
	t, err := time.Parse(time.RFC3339, "2024-02-29T23:30:15.125-08:00")
	if err != nil {
		panic(err)
	}
	zones := []*time.Location{time.UTC, time.FixedZone("CET", 3600), time.FixedZone("IST", 5*3600+1800), time.FixedZone("PST", -8*3600)}
	for _, z := range zones {
		fmt.Println(t.In(z).Format("Mon 2006-01-02 15:04:05.000 MST (-07:00)"))
	}
	fmt.Println("local:", t.Local().Format(time.RFC1123))
	fmt.Println("unix:", t.Unix(), t.UnixMilli(), "leap day:", t.YearDay())
	fmt.Println("+1 year:", t.AddDate(1, 0, 0).Format(time.DateOnly))
	fmt.Println("+1 month:", time.Date(2023, 1, 31, 0, 0, 0, 0, time.UTC).AddDate(0, 1, 0).Format(time.DateOnly))

	start := time.Date(1969, 7, 20, 20, 17, 40, 0, time.UTC)
	end := time.Date(1972, 12, 14, 22, 54, 37, 0, time.UTC)
	d := end.Sub(start)
	fmt.Println("between:", d, "=", int(d.Hours())/24, "days")
	fmt.Println("rounded:", d.Round(time.Hour), d.Truncate(24*time.Hour))

	for _, s := range []string{"1h15m30.5s", "90m", "-2.5h", "1d", "250µs"} {
		if d, err := time.ParseDuration(s); err != nil {
			fmt.Println("error:", err)
		} else {
			fmt.Printf("%-12s %v = %.3f s\n", s, d, d.Seconds())
		}
	}
	if _, err := time.Parse("2006-01-02", "2023-02-30"); err != nil {
		fmt.Println("error:", err)
	}
}
