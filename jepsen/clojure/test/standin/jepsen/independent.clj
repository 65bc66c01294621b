(ns jepsen.independent
  "A stand-in: see jepsen.checker beside it."
  (:require [jepsen.checker :as checker]))

(defn tuple [k v] (clojure.lang.MapEntry. k v))

(defn- tuple? [x] (instance? clojure.lang.MapEntry x))

(defn- subhistories
  "By key, its operations, in one pass as Jepsen has it."
  [history ks]
  (let [all (into {} (map (fn [k] [k (java.util.ArrayList.)])) ks)]
    (doseq [{v :value :as op} history]
      (if (tuple? v)
        (.add ^java.util.ArrayList (all (key v)) (assoc op :value (val v)))
        (doseq [ops (vals all)]
          (.add ^java.util.ArrayList ops op))))
    (into {} (map (fn [[k ops]] [k (vec ops)])) all)))

(defn checker [inner]
  (reify checker/Checker
    (check [_ test history opts]
      (let [ks      (distinct (map key (filter tuple? (map :value history))))
            parts   (subhistories history ks)
            results (into (sorted-map)
                          (pmap (fn [k]
                                  [k (checker/check-safe inner test (parts k)
                                                         {:subdirectory [(:subdirectory opts) "independent" k]
                                                          :history-key k})])
                                ks))]
        {:valid?   (checker/merge-valid (map :valid? (vals results)))
         :results  results
         :failures (vec (remove (comp :valid? results) ks))}))))
