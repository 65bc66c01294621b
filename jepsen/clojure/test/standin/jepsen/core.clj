(ns jepsen.core
  "A stand-in: see jepsen.checker beside it. It runs the clients of a test and
  then its checker, and nothing else."
  (:refer-clojure :exclude [run!])
  (:require [jepsen.checker :as checker]
            [jepsen.client :as client]))

(defn- record! [history op]
  (peek (swap! history (fn [h] (conj h (assoc op :index (count h), :time (System/nanoTime)))))))

(defn- work! [test history process]
  (let [node (nth (:nodes test) (mod process (count (:nodes test))))
        c    (client/open! (:client test) test node)]
    (client/setup! c test)
    (loop []
      (when-let [op (locking history ((:generator test)))]
        (record! history (client/invoke! c test (record! history (assoc op :process process))))
        (recur)))
    (client/teardown! c test)
    (client/close! c test)))

(defn run! [test]
  (let [test    (assoc test :start-time (System/currentTimeMillis))
        history (atom [])]
    (clojure.core/run! deref (doall (for [process (range (:concurrency test))]
                                      (future (work! test history process)))))
    (assoc test
           :history @history
           :results (checker/check-safe (:checker test) test @history {}))))
