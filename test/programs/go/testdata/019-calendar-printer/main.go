// Prints month calendars and answers questions about fixed dates.
package main

import (
	"fmt"
	"strings"
	"time"
)

func month(year int, m time.Month) {
	first := time.Date(year, m, 1, 0, 0, 0, 0, time.UTC)
	title := first.Format("January 2006")
	fmt.Printf("%*s\nMo Tu We Th Fr Sa Su\n", 10+len(title)/2, title)
	col := (int(first.Weekday()) + 6) % 7
	fmt.Print(strings.Repeat("   ", col))
	for d := first; d.Month() == m; d = d.AddDate(0, 0, 1) {
		fmt.Printf("%2d", d.Day())
		if col++; col%7 == 0 {
			fmt.Println()
		} else {
			fmt.Print(" ")
		}
	}
	fmt.Print("\n\n")
}

func easter(year int) time.Time {
	a, b, c := year%19, year/100, year%100
	h := (19*a + b - b/4 - (b-(b+8)/25+1)/3 + 15) % 30
	l := (32 + 2*(b%4) + 2*(c/4) - h - c%4) % 7
	m := (a + 11*h + 22*l) / 451
	return time.Date(year, time.Month((h+l-7*m+114)/31), (h+l-7*m+114)%31+1, 0, 0, 0, 0, time.UTC)
}

func main() {
	month(2024, time.February)
	month(2023, time.October)
	for y := 2020; y <= 2030; y++ {
		e := easter(y)
		_, week := e.ISOWeek()
		fmt.Printf("Easter %s, day %d of the year, week %d\n", e.Format("Mon 2 Jan 2006"), e.YearDay(), week)
	}
	fridays := 0
	for d := time.Date(1900, 1, 13, 0, 0, 0, 0, time.UTC); d.Year() < 2000; d = d.AddDate(0, 1, 0) {
		if d.Weekday() == time.Friday {
			fridays++
		}
	}
	fmt.Println("Friday the 13th in the 20th century:", fridays)
}
