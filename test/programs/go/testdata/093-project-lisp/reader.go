package main

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

type symbol string
type list []any

var token = regexp.MustCompile(`[()']|"[^"]*"|[^\s()']+`)

func tokenize(s string) []string { return token.FindAllString(s, -1) }

type reader struct {
	tokens []string
	at     int
}

var errOpen = errors.New("a list is not closed")

// next returns nil without an error at the end of the input.
func (r *reader) next() (any, error) {
	if r.at == len(r.tokens) {
		return nil, nil
	}
	t := r.tokens[r.at]
	r.at++
	switch {
	case t == "'":
		v, err := r.next()
		return list{symbol("quote"), v}, err
	case t == "(":
		l := list{}
		for r.at < len(r.tokens) && r.tokens[r.at] != ")" {
			v, err := r.next()
			if err != nil {
				return nil, err
			}
			l = append(l, v)
		}
		if r.at == len(r.tokens) {
			return nil, errOpen
		}
		r.at++
		return l, nil
	case t == ")":
		return nil, errors.New("unexpected )")
	case t[0] == '"':
		return t[1 : len(t)-1], nil
	}
	if n, err := strconv.Atoi(t); err == nil {
		return n, nil
	}
	return symbol(t), nil
}

func show(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case list:
		parts := make([]string, len(v))
		for i, e := range v {
			parts[i] = show(e)
		}
		return "(" + strings.Join(parts, " ") + ")"
	case string:
		return strconv.Quote(v)
	case function:
		return "#<function>"
	}
	return fmt.Sprint(v)
}
