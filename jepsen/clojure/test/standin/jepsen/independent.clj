(ns jepsen.independent
  "A stand-in: see jepsen.checker beside it."
  (:require [jepsen.checker :as checker]))

(defn tuple [k v] (clojure.lang.MapEntry. k v))

(defn- tuple? [x] (instance? clojure.lang.MapEntry x))

(defn- subhistory [history k]
  (vec (keep (fn [{v :value :as op}]
               (cond
                 (not (tuple? v)) op
                 (= k (key v))    (assoc op :value (val v))))
             history)))

(defn checker [inner]
  (reify checker/Checker
    (check [_ test history opts]
      (let [ks      (distinct (map key (filter tuple? (map :value history))))
            results (into (sorted-map)
                          (pmap (fn [k]
                                  [k (checker/check-safe inner test (subhistory history k)
                                                         {:subdirectory [(:subdirectory opts) "independent" k]
                                                          :history-key k})])
                                ks))]
        {:valid?   (checker/merge-valid (map :valid? (vals results)))
         :results  results
         :failures (vec (remove (comp :valid? results) ks))}))))
