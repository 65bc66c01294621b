package edn_test

import (
	"errors"
	"fmt"
	"math/big"

	"clew/edn"
)

// Parse reads a text in memory. Equal values have the same class.
func ExampleValues_Parse() {
	values := edn.NewValues()
	var ids []edn.ID
	for _, text := range []string{"[1 (2N)]", "(1 [2])", "[1 2]"} {
		id, err := values.Parse([]byte(text), edn.Pos{})
		if err != nil {
			fmt.Println(err)
			return
		}
		ids = append(ids, id)
	}
	fmt.Println(values.Same(ids[0]) == values.Same(ids[1]))
	fmt.Println(values.Same(ids[0]) == values.Same(ids[2]))
	// Output:
	// true
	// false
}

// From turns plain Go into EDN.
func ExampleValues_From() {
	values := edn.NewValues()
	for _, x := range []any{
		nil,
		42,
		"a string",
		edn.Keyword("read"),
		[]any{1, 2.5, nil},
		edn.Set{edn.Keyword("b"), edn.Keyword("a")},
		map[edn.Keyword]any{"x": 1, "y": []int{2, 3}},
		edn.Tagged{Tag: "model", Value: big.NewRat(1, 3)},
	} {
		value, err := values.From(x)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(value)
	}
	_, err := values.From(struct{}{})
	fmt.Println(err)
	// Output:
	// nil
	// 42
	// "a string"
	// :read
	// [1 2.5 nil]
	// #{:a :b}
	// {:x 1, :y [2 3]}
	// #model 1/3
	// expected a value in plain Go (nil, a boolean, number, string, Keyword, Symbol, slice or map), found a struct {}
}

// Go turns EDN into plain Go.
func ExampleValue_Go() {
	values := edn.NewValues()
	id, err := values.Parse([]byte(`{:f :cas, :value [1 2N], :error "timeout"}`), edn.Pos{})
	if err != nil {
		fmt.Println(err)
		return
	}
	op := values.Value(id).Go().(map[any]any)
	fmt.Printf("%T %[1]v\n", op[edn.Keyword("f")])
	fmt.Printf("%T %[1]v\n", op[edn.Keyword("value")].([]any)[1])
	fmt.Printf("%T %[1]v\n", op[edn.Keyword("error")])
	// Output:
	// edn.Keyword cas
	// int64 2
	// string timeout
}

// An error says where a text is wrong.
func ExampleError() {
	_, err := edn.NewValues().Parse([]byte("[1\n (2 ]"), edn.Pos{File: "answer.edn"})
	fmt.Println(err)
	var at *edn.Error
	if errors.As(err, &at) {
		fmt.Println(at.File, at.Line, at.Col, at.Offset)
	}
	// Output:
	// answer.edn:2:5: expected ) to close ( opened at 2:2, found ]
	// answer.edn 2 5 7
}
