//go:build library

// Command c is clew as a library for C, and so for all languages that can call C.
//
//	go build -tags library -buildmode c-shared -o libclew.so ./packages/c
//	go build -tags library -buildmode c-archive -o libclew.a ./packages/c
//
// clew.h, which is written by hand, describes its functions. Their requests and responses are those of package api.
// It needs cgo, so that only builds that ask for it by the tag have it.
package main

/*
#include <stdlib.h>
#include "clew.h"
typedef const char constant;
*/
import "C"

import (
	"bytes"
	"unsafe"

	"clew/api"
	"clew/internal/outputs"
)

func main() {}

// The compiler compares these functions with their prototypes in clew.h.

//export clew_call
func clew_call(request *C.constant, length C.size_t, responseLength *C.size_t) *C.char {
	// The request is copied: after a limit, work that is left behind may still read it when this has returned.
	response := api.Call(bytes.Clone(unsafe.Slice((*byte)(unsafe.Pointer(request)), length)))
	if responseLength != nil {
		*responseLength = C.size_t(len(response))
	}
	return (*C.char)(C.CBytes(append(response, 0)))
}

//export clew_free
func clew_free(response *C.char) { C.free(unsafe.Pointer(response)) }

//export clew_version
func clew_version() *C.constant { return version }

// version is found by what looks for leaks, since it is not in Go's heap.
var version = (*C.constant)(C.CString(outputs.Build()))
