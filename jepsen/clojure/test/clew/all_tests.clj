(ns clew.all-tests
  "Runs the plugin's tests: see `run` beside this folder."
  (:require [clew.checker-test]
            [clew.kills-test]
            [clew.knossos-test]
            [clew.models-test]
            [clew.scenarios-test]
            [clojure.test :as test]))

; What is tested here would fill the screen.
(def logger
  (doto (java.util.logging.Logger/getLogger "clew")
    (.setLevel java.util.logging.Level/OFF)))

(def namespaces '[clew.checker-test clew.scenarios-test clew.knossos-test clew.models-test clew.kills-test])

(defn -main
  "Runs the tests of the given names, or all."
  [& names]
  (binding [test/*report-counters* (ref test/*initial-report-counters*)]
    (if names
      (test/test-vars (keep identity (for [name names, n namespaces] (ns-resolve n (symbol name)))))
      (run! test/test-all-vars namespaces))
    (let [{:keys [pass fail error] :as counts} @test/*report-counters*]
      (test/do-report (assoc counts :type :summary))
      (shutdown-agents)
      (System/exit (if (and (pos? pass) (zero? (+ fail error))) 0 1)))))
