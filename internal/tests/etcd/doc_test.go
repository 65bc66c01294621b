// Package etcd tests verdicts on etcd: watches, revisions, and the reports of its robustness tests.
package etcd_test
