(ns jepsen.checker
  "A stand-in for what clew.checker uses of Jepsen, and for what runs checkers
  there: the tests need no Jepsen. It is as strict as the real one.")

(defprotocol Checker
  (check [checker test history opts]))

(defn check-safe
  "Catches exceptions, but not errors."
  [checker test history opts]
  (try
    (check checker test history opts)
    (catch Exception e
      {:valid? :unknown, :error (Throwable->map e)})))

(defn merge-valid [verdicts]
  (let [rank {true 0, :unknown 1, false 2}]
    (doseq [v verdicts]
      (when-not (rank v)
        (throw (IllegalArgumentException. (str v " is no :valid?")))))
    (apply max-key rank true verdicts)))

(defn compose [checkers]
  (reify Checker
    (check [_ test history opts]
      (let [results (into {} (pmap (fn [[k c]] [k (check-safe c test history opts)]) checkers))]
        (assoc results :valid? (merge-valid (map :valid? (vals results))))))))
