(defproject clew/jepsen "0.1.0-SNAPSHOT"
  :description "clew as a checker in Jepsen tests"
  :license {:name "Apache-2.0"}
  :dependencies []
  ; Whoever uses this has Clojure and Jepsen already, in versions of their own.
  :profiles {:provided {:dependencies [[org.clojure/clojure "1.11.1"]
                                       [jepsen "0.3.5"]]}})
