package api

import "sync"

// thing is what a handle stands for: a recorder or a monitor. It answers one call at a time.
type thing interface{ close() }

// maxHandles bounds how many things are open, since a program that forgets to close them would go on until there is no
// memory.
const maxHandles = 1 << 16

// handles are the things that are open.
var handles struct {
	sync.Mutex
	open map[int64]thing
	last int64
}

// opened is the result of a call that opens a thing.
type opened struct {
	Handle int64 `json:"handle"`
}

func open(x thing) (any, error) {
	handles.Lock()
	defer handles.Unlock()
	if len(handles.open) == maxHandles {
		x.close()
		return nil, &failure{Kind: kindHandle, Message: "too many recorders and monitors are open; \"close\" closes one"}
	}
	if handles.open == nil {
		handles.open = map[int64]thing{}
	}
	handles.last++
	handles.open[handles.last] = x
	return opened{handles.last}, nil
}

var errNotOpen = &failure{Kind: kindHandle, Message: "the handle is not open"}

// of returns what a handle stands for.
func of[T thing](handle int64) (x T, err error) {
	handles.Lock()
	defer handles.Unlock()
	any, is := handles.open[handle]
	if !is {
		return x, errNotOpen
	}
	if x, is = any.(T); !is {
		return x, &failure{Kind: kindHandle, Message: "the handle is open, but stands for another thing than the call is about"}
	}
	return x, nil
}

// taken returns what a handle stands for, and closes the handle.
func taken[T thing](handle int64) (T, error) {
	x, err := of[T](handle)
	if err != nil {
		return x, err
	}
	handles.Lock()
	defer handles.Unlock()
	if _, is := handles.open[handle]; !is {
		return x, errNotOpen
	}
	delete(handles.open, handle)
	return x, nil
}

// nothing is the result of a call that has none.
type nothing struct{}

// handleRequest is about what a handle stands for.
type handleRequest struct {
	head
	Handle int64 `json:"handle"`
}

func closeHandle(c *call) (any, error) {
	var r handleRequest
	if err := c.into(&r); err != nil {
		return nil, err
	}
	x, err := taken[thing](r.Handle)
	if err != nil {
		return nil, err
	}
	x.close()
	return nothing{}, nil
}
