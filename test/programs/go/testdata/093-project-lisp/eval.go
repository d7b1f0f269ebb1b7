package main

import "fmt"

type function func(args []any) any

type environment struct {
	vars  map[symbol]any
	outer *environment
}

func (e *environment) find(s symbol) *environment {
	for ; e != nil; e = e.outer {
		if _, ok := e.vars[s]; ok {
			return e
		}
	}
	panic(fmt.Errorf("%s is not defined", s))
}

func globals() *environment {
	arithmetic := func(f func(a, b int) int) function {
		return func(args []any) any {
			acc := args[0].(int)
			for _, a := range args[1:] {
				acc = f(acc, a.(int))
			}
			return acc
		}
	}
	return &environment{vars: map[symbol]any{
		"+":     arithmetic(func(a, b int) int { return a + b }),
		"-":     arithmetic(func(a, b int) int { return a - b }),
		"*":     arithmetic(func(a, b int) int { return a * b }),
		"<":     function(func(a []any) any { return a[0].(int) < a[1].(int) }),
		"list":  function(func(a []any) any { return list(a) }),
		"car":   function(func(a []any) any { return a[0].(list)[0] }),
		"cdr":   function(func(a []any) any { return a[0].(list)[1:] }),
		"cons":  function(func(a []any) any { return append(list{a[0]}, a[1].(list)...) }),
		"null?": function(func(a []any) any { return len(a[0].(list)) == 0 }),
	}}
}

func eval(x any, env *environment) any {
	switch x := x.(type) {
	case symbol:
		return env.find(x).vars[x]
	case list:
		if form, ok := x[0].(symbol); ok {
			switch form {
			case "quote":
				return x[1]
			case "define":
				env.vars[x[1].(symbol)] = eval(x[2], env)
				return x[1]
			case "set!":
				env.find(x[1].(symbol)).vars[x[1].(symbol)] = eval(x[2], env)
				return nil
			case "if":
				if eval(x[1], env) == true {
					return eval(x[2], env)
				}
				return eval(x[3], env)
			case "lambda":
				return lambda(x[1].(list), x[2:], env)
			case "let":
				inner := &environment{map[symbol]any{}, env}
				for _, b := range x[1].(list) {
					inner.vars[b.(list)[0].(symbol)] = eval(b.(list)[1], env)
				}
				return eval(x[2], inner)
			}
		}
		f := eval(x[0], env).(function)
		args := make([]any, len(x)-1)
		for i, a := range x[1:] {
			args[i] = eval(a, env)
		}
		return f(args)
	}
	return x
}

func lambda(params, body list, env *environment) function {
	return func(args []any) (v any) {
		inner := &environment{map[symbol]any{}, env}
		for i, p := range params {
			inner.vars[p.(symbol)] = args[i]
		}
		for _, b := range body {
			v = eval(b, inner)
		}
		return v
	}
}

func evalSafely(x any, env *environment) (v any, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = r.(error)
		}
	}()
	return eval(x, env), nil
}
