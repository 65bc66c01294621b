(ns jepsen.tests
  "A stand-in: see jepsen.checker beside it.")

(def noop-test {:name "noop", :nodes ["n1" "n2" "n3" "n4" "n5"]})
