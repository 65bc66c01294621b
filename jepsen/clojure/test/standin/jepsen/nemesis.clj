(ns jepsen.nemesis
  "A stand-in: see jepsen.checker beside it.")

(defprotocol Nemesis
  (setup! [this test])
  (invoke! [this test op])
  (teardown! [this test]))
