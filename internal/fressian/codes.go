package fressian

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

// tag identifies the tag of an object: one that the package knows, or another.
type tag uint8

const (
	otherTag tag = iota
	keyTag
	symTag
	mapTag
	setTag
	uuidTag
	regexTag
	uriTag
	bigintTag
	bigdecTag
	instTag
	intsTag
	longsTag
	floatsTag
	doublesTag
	booleansTag
	objectsTag
	vecTag
	hashSetTag
	sortedSetTag
	mapEntryTag
	multisetTag
	ratioTag
	charTag
	byteTag
	recordTag
	instantTag
	dateTimeTag
	atomTag
	throwableTag
	opTag
)

// tags are the tags that the package knows, with the number of fields that each has.
var tags = [...]struct {
	name   string
	fields int
}{
	keyTag: {"key", 2}, symTag: {"sym", 2}, mapTag: {"map", 1}, setTag: {"set", 1}, uuidTag: {"uuid", 1}, regexTag: {"regex", 1},
	uriTag: {"uri", 1}, bigintTag: {"bigint", 1}, bigdecTag: {"bigdec", 2}, instTag: {"inst", 1}, intsTag: {"int[]", 2}, longsTag: {"long[]", 2},
	floatsTag: {"float[]", 2}, doublesTag: {"double[]", 2}, booleansTag: {"boolean[]", 2}, objectsTag: {"Object[]", 2}, vecTag: {"vec", 1},
	hashSetTag: {"persistent-hash-set", 1}, sortedSetTag: {"persistent-sorted-set", 1}, mapEntryTag: {"map-entry", 2}, multisetTag: {"multiset", 1},
	ratioTag: {"ratio", 2}, charTag: {"char", 1}, byteTag: {"byte", 1}, recordTag: {"record", 2}, instantTag: {"instant", 1},
	dateTimeTag: {"date-time", 1}, atomTag: {"atom", 1}, throwableTag: {"throwable", 1}, opTag: {"jepsen.history.Op", 7},
}

// tagNamed maps names to tags.
var tagNamed = func() map[string]tag {
	named := map[string]tag{}
	for t, about := range tags {
		if about.name != "" {
			named[about.name] = tag(t)
		}
	}
	return named
}()

// coded are the tags that have a code of their own.
var coded = map[byte]tag{
	longArray: longsTag, doubleArray: doublesTag, booleanArray: booleansTag, intArray: intsTag, floatArray: floatsTag, objectArray: objectsTag,
	mapCode: mapTag, setCode: setTag, uuidCode: uuidTag, regexCode: regexTag, uriCode: uriTag, bigintCode: bigintTag, bigdecCode: bigdecTag,
	instCode: instTag, symCode: symTag, keyCode: keyTag,
}

// tagOf is coded as an array, by code.
var tagOf = func() (of [256]tag) {
	for code, t := range coded {
		of[code] = t
	}
	return of
}()

// naming names a code in messages.
func naming(code byte) string {
	switch {
	case code < priorityCache || code == intCode || code == minusOne:
		return "an integer"
	case code < structCache || code == getPriority || code == putPriority:
		return "a cached object"
	case tagOf[code] != otherTag:
		return "a " + tags[tagOf[code]].name
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
