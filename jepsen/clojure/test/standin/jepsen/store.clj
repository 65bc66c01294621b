(ns jepsen.store
  "A stand-in: see jepsen.checker beside it."
  (:require [clojure.java.io :as io]))

(def base-dir "store")

(defn path! [test & args]
  (assert (:name test))
  (assert (:start-time test))
  (doto (apply io/file base-dir (:name test) (str (:start-time test))
               (map str (remove nil? (flatten args))))
    io/make-parents))
