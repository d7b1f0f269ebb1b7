// Writes a CSV file, reads it back and prints totals by region.
package main

import (
	"encoding/csv"
	"fmt"
	"io"
	"log"
	"os"
	"sort"
	"strconv"
)

func write(name string) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	w := csv.NewWriter(f)
	w.WriteAll([][]string{
		{"region", "product", "units", "price"},
		{"north", "tea, green", "12", "3.50"},
		{"south", `"special" tea`, "7", "9.99"},
		{"north", "coffee\nbeans", "30", "6.25"},
		{"east", "café crème", "18", "2.10"},
		{"south", "茶", "100", "0.75"},
	})
	if err := w.Error(); err != nil {
		return err
	}
	return f.Close()
}

func main() {
	log.SetFlags(0)
	if err := write("sales.csv"); err != nil {
		log.Fatal(err)
	}
	f, err := os.Open("sales.csv")
	if err != nil {
		log.Fatal(err)
	}
	defer f.Close()
	totals := map[string]float64{}
	r := csv.NewReader(f)
	header, _ := r.Read()
	fmt.Printf("%q\n", header)
	for {
		rec, err := r.Read()
		if err == io.EOF {
			break
		}
		if err != nil {
			log.Fatal(err)
		}
		units, _ := strconv.Atoi(rec[2])
		price, _ := strconv.ParseFloat(rec[3], 64)
		totals[rec[0]] += float64(units) * price
		line, _ := r.FieldPos(1)
		fmt.Printf("line %d: %q x %d\n", line, rec[1], units)
	}
	regions := make([]string, 0, len(totals))
	for k := range totals {
		regions = append(regions, k)
	}
	sort.Strings(regions)
	for _, k := range regions {
		fmt.Printf("%-6s %8.2f\n", k, totals[k])
	}
}
