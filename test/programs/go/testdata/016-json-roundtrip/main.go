// JSON in and out: struct tags, omitted fields, custom types, unknown fields.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
)

type minutes time.Duration

func (m minutes) MarshalJSON() ([]byte, error) {
	return json.Marshal(time.Duration(m).Minutes())
}

func (m *minutes) UnmarshalJSON(b []byte) error {
	var f float64
	if err := json.Unmarshal(b, &f); err != nil {
		return err
	}
	*m = minutes(f * float64(time.Minute))
	return nil
}

type track struct {
	Title  string   `json:"title"`
	Length minutes  `json:"length"`
	Tags   []string `json:"tags,omitempty"`
	secret string
}

type album struct {
	Artist string           `json:"artist"`
	Year   *int             `json:"year"`
	Tracks []track          `json:"tracks"`
	Extra  json.RawMessage  `json:"extra,omitempty"`
	Stock  map[string]int64 `json:"stock"`
}

const doc = `{"artist":"Björk 你好","year":null,"stock":{"oslo":3,"köln":12},
 "tracks":[{"title":"héllo 🦀","length":3.5,"tags":["a","<b>"]},{"title":"quiet","length":0.25}],
 "extra":{"any":[1,2.50,true]}}`

func main() {
	var a album
	if err := json.Unmarshal([]byte(doc), &a); err != nil {
		panic(err)
	}
	fmt.Println(a.Artist, a.Year == nil, time.Duration(a.Tracks[0].Length), a.Stock["köln"], a.Tracks[1].secret == "")
	year := 2015
	a.Year = &year
	out, _ := json.MarshalIndent(a, "", "  ")
	fmt.Println(string(out))

	dec := json.NewDecoder(strings.NewReader(`{"artist":"x","bogus":1}`))
	dec.DisallowUnknownFields()
	fmt.Println(dec.Decode(&a))
	var syntax *json.SyntaxError
	err := json.Unmarshal([]byte(`{"artist": }`), &a)
	fmt.Println(errors.As(err, &syntax), syntax.Offset)
	var typ *json.UnmarshalTypeError
	err = json.Unmarshal([]byte(`{"year":"old"}`), &a)
	fmt.Println(errors.As(err, &typ), typ.Field, typ.Value)
}
