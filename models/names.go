package models

// ofObject are the models of what the text of a history says that it is of: see
// jepsen.History.Object.
var ofObject = map[string]string{
	"queue": "fifo-queue", "stack": "stack", "priorityqueue": "priority-queue", "set": "lookup-set",
}

// ofRecord are the models by the names of records, Knossos's and our own.
var ofRecord = map[string]string{
	"Register": "register", "CASRegister": "cas-register", "MultiRegister": "multi-register",
	"Mutex": "mutex", "FIFOQueue": "fifo-queue", "UnorderedQueue": "unordered-queue", "Set": "set",
	"VersionedRegister": "versioned-register", "Stack": "stack", "KV": "kv", "LookupSet": "lookup-set",
	"PriorityQueue": "priority-queue", "Semaphore": "semaphore",
}

// OfRecord is the model whose states print as a record of that name, such as
// "CASRegister".
func OfRecord(record string) (model string, ok bool) {
	model, ok = ofRecord[record]
	return model, ok
}
