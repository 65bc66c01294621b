package fressian

import (
	"time"

	"clew/edn"
)

// The codes that objects begin with. A range of codes packs a small number: a length, a
// place in a cache, or the upper bits of an integer.
const (
	intPacked1    = 0x40 // below it, the code is the integer
	intPacked2    = 0x60
	intPacked3    = 0x70
	intPacked4    = 0x74
	intPacked5    = 0x78
	intPacked6    = 0x7c
	intPacked7    = 0x80
	priorityCache = 0x80
	structCache   = 0xa0
	longArray     = 0xb0
	doubleArray   = 0xb1
	booleanArray  = 0xb2
	intArray      = 0xb3
	floatArray    = 0xb4
	objectArray   = 0xb5
	mapCode       = 0xc0
	setCode       = 0xc1
	uuidCode      = 0xc3
	regexCode     = 0xc4
	uriCode       = 0xc5
	bigintCode    = 0xc6
	bigdecCode    = 0xc7
	instCode      = 0xc8
	symCode       = 0xc9
	keyCode       = 0xca
	getPriority   = 0xcc
	putPriority   = 0xcd
	footer        = 0xcf
	bytesPacked   = 0xd0
	bytesChunk    = 0xd8
	bytesCode     = 0xd9
	stringPacked  = 0xda
	stringChunk   = 0xe2
	stringCode    = 0xe3
	listPacked    = 0xe4
	listCode      = 0xec
	closedList    = 0xed
	openList      = 0xee
	structType    = 0xef
	structCode    = 0xf0
	trueCode      = 0xf5
	falseCode     = 0xf6
	nullCode      = 0xf7
	intCode       = 0xf8
	floatCode     = 0xf9
	doubleCode    = 0xfa
	double0       = 0xfb
	double1       = 0xfc
	endCollection = 0xfd
	resetCaches   = 0xfe
	minusOne      = 0xff
)

type tag struct {
	name   string
	code   byte // a code of its own, 0 if it has none
	fields int
	read   func(r *Reader, i, depth int) edn.ID // reads the fields of an object at i
}

var (
	tagNamed = map[string]*tag{}
	tagOf    [256]*tag // by code

	opTag, vecTag *tag
)

func init() {
	for _, t := range []tag{
		{"key", keyCode, 2, named(false)},
		{"sym", symCode, 2, named(true)},
		{"map", mapCode, 1, (*Reader).mapOf},
		{"set", setCode, 1, (*Reader).set},
		{"persistent-hash-set", 0, 1, (*Reader).set},
		{"persistent-sorted-set", 0, 1, (*Reader).set},
		{"vec", 0, 1, (*Reader).vec},
		{"map-entry", 0, 2, (*Reader).mapEntry},
		{"multiset", 0, 1, wrapped("multiset")},
		{"atom", 0, 1, wrapped("atom")},
		{"throwable", 0, 1, wrapped("error")},
		{"byte", 0, 1, func(r *Reader, _, _ int) edn.ID { return r.v.InternInt(r.Int()) }},
		{"char", 0, 1, (*Reader).char},
		{"bigint", bigintCode, 1, func(r *Reader, i, _ int) edn.ID { return r.number(i, r.integer()+"N") }},
		{"bigdec", bigdecCode, 2, (*Reader).decimal},
		{"ratio", 0, 2, (*Reader).ratio},
		{"regex", regexCode, 1, (*Reader).regex},
		{"uri", uriCode, 1, func(r *Reader, _, depth int) edn.ID {
			return r.v.InternTagged("uri", r.ofKind(edn.KindString, "a string", depth))
		}},
		{"uuid", uuidCode, 1, (*Reader).uuid},
		{"inst", instCode, 1, func(r *Reader, _, _ int) edn.ID {
			return r.instant(time.UnixMilli(r.Int()).UTC().Format("2006-01-02T15:04:05.000-00:00"))
		}},
		{"instant", 0, 1, func(r *Reader, _, depth int) edn.ID {
			return r.instant(r.v.Str(r.ofKind(edn.KindString, "a string", depth)))
		}},
		{"date-time", 0, 1, (*Reader).dateTime},
		{"record", 0, 2, (*Reader).record},
		{"jepsen.history.Op", 0, 7, (*Reader).op},
		// The tags of arrays become names like those of Clojure's functions for them.
		{"int[]", intArray, 2, arrayOf("ints")},
		{"long[]", longArray, 2, arrayOf("longs")},
		{"float[]", floatArray, 2, arrayOf("floats")},
		{"double[]", doubleArray, 2, arrayOf("doubles")},
		{"boolean[]", booleanArray, 2, arrayOf("booleans")},
		{"Object[]", objectArray, 2, arrayOf("objects")},
	} {
		tagNamed[t.name] = &t
		if t.code != 0 {
			tagOf[t.code] = &t
		}
	}
	opTag, vecTag = tagNamed["jepsen.history.Op"], tagNamed["vec"]
}

// naming names a code in messages.
func naming(code byte) string {
	switch {
	case code < priorityCache || code == intCode || code == minusOne:
		return "an integer"
	case code < structCache || code == getPriority || code == putPriority:
		return "a cached object"
	case tagOf[code] != nil:
		return "a " + tagOf[code].name
	case code < longArray || code == structType || code == structCode:
		return "a tagged object"
	case code >= bytesPacked && code <= bytesCode:
		return "bytes"
	case code >= stringPacked && code <= stringCode:
		return "a string"
	case code >= listPacked && code <= openList:
		return "a list"
	case code == trueCode || code == falseCode:
		return "a boolean"
	case code == nullCode:
		return "null"
	case code >= floatCode && code <= double1:
		return "a float"
	case code == endCollection:
		return "the end of a list"
	}
	return ""
}
