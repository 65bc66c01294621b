package porcupine

import (
	"io"
	"time"

	theirs "github.com/anishathalye/porcupine"
)

// These names mean what they mean in porcupine.
type (
	Model                 = theirs.Model
	NondeterministicModel = theirs.NondeterministicModel
	Operation             = theirs.Operation
	Event                 = theirs.Event
	EventKind             = theirs.EventKind
	CheckResult           = theirs.CheckResult
	LinearizationInfo     = theirs.LinearizationInfo
	Annotation            = theirs.Annotation
)

// The kinds of events and the results, as in porcupine.
const (
	CallEvent   = theirs.CallEvent
	ReturnEvent = theirs.ReturnEvent

	Unknown = theirs.Unknown
	Ok      = theirs.Ok
	Illegal = theirs.Illegal
)

// CheckOperations says whether a history of operations with times is
// linearizable. Operations whose times touch are concurrent.
func CheckOperations(model Model, history []Operation) bool {
	return CheckOperationsTimeout(model, history, 0) == Ok
}

// CheckOperationsTimeout does what CheckOperations does, and returns Unknown
// after a timeout unless that is 0.
func CheckOperationsTimeout(model Model, history []Operation, timeout time.Duration) CheckResult {
	model = complete(model)
	_, events := partitioned(model, history)
	return check(model, events, timeout)
}

// partitioned returns the partitions of operations, and their events.
func partitioned(model Model, history []Operation) (parts [][]Operation, events [][]Event) {
	parts = [][]Operation{history}
	if model.Partition != nil {
		parts = model.Partition(history)
	}
	events = make([][]Event, len(parts))
	for i, ops := range parts {
		events[i] = eventsOf(ops)
	}
	return parts, events
}

// CheckEvents says whether a history of events, in their order, is linearizable.
func CheckEvents(model Model, history []Event) bool {
	return CheckEventsTimeout(model, history, 0) == Ok
}

// CheckEventsTimeout does what CheckEvents does, and returns Unknown after a
// timeout unless that is 0.
func CheckEventsTimeout(model Model, history []Event, timeout time.Duration) CheckResult {
	model = complete(model)
	return check(model, partitionedEvents(model, history), timeout)
}

// partitionedEvents returns the partitions of events.
func partitionedEvents(model Model, history []Event) [][]Event {
	if model.PartitionEvent == nil {
		return [][]Event{history}
	}
	return model.PartitionEvent(history)
}

// CheckOperationsVerbose does what CheckOperationsTimeout does, for all partitions, and
// says what was found: a linearization of each partition, or one of the longest
// beginning of it that is linearizable.
func CheckOperationsVerbose(model Model, history []Operation, timeout time.Duration) (CheckResult, LinearizationInfo) {
	model = complete(model)
	parts, events := partitioned(model, history)
	result, found := checkAll(model, events, timeout)
	for i, orders := range found { // the library numbers operations by their place in the partition
		ids := calls(events[i])
		for _, order := range orders {
			for k, row := range order {
				order[k] = ids[row]
			}
		}
	}
	return result, operationsInfo(parts, events, found)
}

// CheckEventsVerbose does for events what CheckOperationsVerbose does for operations.
func CheckEventsVerbose(model Model, history []Event, timeout time.Duration) (CheckResult, LinearizationInfo) {
	model = complete(model)
	parts := partitionedEvents(model, history)
	result, found := checkAll(model, parts, timeout)
	return result, eventsInfo(parts, found)
}

// Visualize draws what a Verbose check has found, as porcupine does: with the labels of
// the model's DescribeOperation, if it has one.
func Visualize(model Model, info LinearizationInfo, output io.Writer) error {
	return theirs.Visualize(model, info, output)
}

// VisualizePath does what Visualize does, into a file.
func VisualizePath(model Model, info LinearizationInfo, path string) error {
	return theirs.VisualizePath(model, info, path)
}
