// Package container decides queues, stacks, priority queues and bags in near-linear time. Path
// chooses among them. containers.go prepares what queue.go, stack.go and priorityqueue.go share, and
// unknown.go finds out what crashed removes took from these three. A stack takes values away in one
// of two ways: stackwatch.go, with maxtree.go, is linear in practice, and stacktree.go takes over if it
// gives up. bag.go decides
// bags by counting; gapchoice.go chooses the gaps in which a bag was empty.
package container
