// Package howfar tests how far histories are said to be from being linearizable, against the definitions of docs/guarantees.md.
package howfar_test
