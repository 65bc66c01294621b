package requests

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
)

// Asker asks the client of a request something, and returns what it answers. It gives up when stop is closed, or when
// the request ends. Several goroutines may ask at once.
type Asker func(stop <-chan struct{}, question any) (json.RawMessage, error)

type askerKey struct{}

// AskerOf returns the Asker of the context that Server.Do gets, or nil for any other context.
func AskerOf(ctx context.Context) Asker {
	ask, _ := ctx.Value(askerKey{}).(Asker)
	return ask
}

func (c *connection) asker(r *request) Asker {
	return func(stop <-chan struct{}, question any) (json.RawMessage, error) {
		told := make(chan json.RawMessage, 1)
		r.asking.Lock()
		r.asked = append(r.asked, told)
		c.write(struct {
			ID  int64 `json:"id"`
			Ask any   `json:"ask"`
		}{r.id, question})
		r.asking.Unlock()
		select {
		case answer := <-told:
			return answer, nil
		case <-stop:
			return nil, errors.New("stopped by a limit")
		case <-r.ctx.Done():
			return nil, context.Cause(r.ctx)
		}
	}
}

// told hands an answer of the client to the oldest question that has none.
func (r *request) told(answer json.RawMessage) error {
	r.asking.Lock()
	defer r.asking.Unlock()
	if len(r.asked) == 0 {
		return fmt.Errorf(`request %d asks nothing; expected "told" only after its "ask"`, r.id)
	}
	r.asked[0] <- answer
	r.asked = r.asked[1:]
	return nil
}
