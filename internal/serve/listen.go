package serve

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net"
	"net/http"
	"os"
	"sync"
	"time"
)

// Bounds of a connection. A check may take long, so the whole answer has no limit, but each piece of it has.
const (
	headerTime  = 10 * time.Second
	pieceTime   = 30 * time.Second
	idleTime    = 2 * time.Minute
	headerBytes = 32 << 10
	maxOpen     = 512 // connections
)

// At the end, answers that are under way may take answering, and checks then leaving.
const (
	answering = 60 * time.Millisecond
	leaving   = 80 * time.Millisecond
)

// Listen listens at an address HOST:PORT. Port 0 picks a port.
func Listen(address string) (net.Listener, error) {
	if _, _, err := net.SplitHostPort(address); err != nil {
		return nil, fmt.Errorf("expected HOST:PORT, such as 127.0.0.1:8080, found %q", address)
	}
	l, err := net.Listen("tcp", address)
	if err != nil {
		var call *os.SyscallError
		var op *net.OpError
		switch {
		case errors.As(err, &call):
			err = fmt.Errorf("%w; port 0 picks one that is free", call.Err)
		case errors.As(err, &op):
			err = op.Err
		}
		return nil, err
	}
	return l, nil
}

// Serve answers requests until the context is done. Then it ends all checks, and gives answers a moment to end. If
// only this machine can reach the listener, requests must name this machine.
func (s *Server) Serve(ctx context.Context, l net.Listener) error {
	if tcp, ok := l.Addr().(*net.TCPAddr); ok && tcp.IP.IsLoopback() {
		s.Local = true
	}
	srv := &http.Server{
		Handler:           patient(s),
		ReadHeaderTimeout: headerTime,
		IdleTimeout:       idleTime,
		MaxHeaderBytes:    headerBytes,
		ErrorLog:          log.New(s.Log, "clew: ", 0),
		BaseContext:       func(net.Listener) context.Context { return s.ctx },
	}
	ended := make(chan error, 1)
	go func() { ended <- srv.Serve(limited(l, maxOpen)) }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	s.end()
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), answering)
	defer cancel()
	if srv.Shutdown(last) != nil {
		srv.Close()
	}
	return nil
}

// patient lets each piece of an answer take pieceTime. A client that does not read gets no more. No request needs a
// body, so there is little time for one.
func patient(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		control := http.NewResponseController(w)
		if r.ContentLength != 0 {
			control.SetReadDeadline(time.Now().Add(headerTime))
		}
		h.ServeHTTP(&pieces{w, control}, r)
	})
}

type pieces struct {
	http.ResponseWriter
	control *http.ResponseController
}

// pieceBytes is how much a client must take within pieceTime.
const pieceBytes = 64 << 10

func (p *pieces) more() { p.control.SetWriteDeadline(time.Now().Add(pieceTime)) }

func (p *pieces) WriteHeader(status int) {
	p.more()
	p.ResponseWriter.WriteHeader(status)
}

func (p *pieces) Write(b []byte) (written int, err error) {
	for {
		p.more()
		piece := b[:min(len(b), pieceBytes)]
		n, err := p.ResponseWriter.Write(piece)
		written += n
		if b = b[len(piece):]; err != nil || len(b) == 0 {
			return written, err
		}
	}
}

// limited returns a listener that accepts a connection only while fewer than max are open.
func limited(l net.Listener, max int) net.Listener {
	return &limitedListener{l, make(chan struct{}, max)}
}

type limitedListener struct {
	net.Listener
	open chan struct{}
}

func (l *limitedListener) Accept() (net.Conn, error) {
	l.open <- struct{}{}
	c, err := l.Listener.Accept()
	if err != nil {
		<-l.open
		return nil, err
	}
	return &limitedConn{c, sync.OnceFunc(func() { <-l.open })}, nil
}

// limitedConn makes room for another connection once it is closed.
type limitedConn struct {
	net.Conn
	closed func()
}

func (c *limitedConn) Close() error {
	c.closed()
	return c.Conn.Close()
}
