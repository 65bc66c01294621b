(ns jepsen.client
  "A stand-in: see jepsen.checker beside it.")

(defprotocol Client
  (open! [client test node])
  (setup! [client test])
  (invoke! [client test op])
  (teardown! [client test])
  (close! [client test]))
