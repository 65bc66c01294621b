(ns jepsen.core
  "A stand-in: see jepsen.checker beside it. It runs the clients and the nemesis of
  a test, then its checker, and nothing else. What crashes goes on as another process."
  (:refer-clojure :exclude [run!])
  (:require [jepsen.checker :as checker]
            [jepsen.client :as client]
            [jepsen.generator :as gen]
            [jepsen.nemesis :as nemesis]))

(defn- record!
  "Puts an op into the history, and tells the generator."
  [{:keys [test history generator busy]} op]
  (let [op (peek (swap! history (fn [h] (conj h (assoc op :index (count h), :time (System/nanoTime))))))]
    (swap! generator gen/update test {:busy @busy} op)
    op))

(defn- next!
  "The next op of a thread, which is now at work, or nil at the end."
  [{:keys [test history generator exhausted busy] :as state} thread process]
  (let [op (locking history
             (let [[op gen :as some-op] (when-not @exhausted
                                          (gen/op @generator test {:thread thread, :busy @busy}))]
               (if some-op
                 (reset! generator gen)
                 (reset! exhausted true))
               (if (map? op)
                 (do (when (= :client thread)
                       (swap! busy inc))
                     (record! state (merge {:type :invoke, :value nil} op {:process process})))
                 op)))]
    (if (= :pending op)
      (do (Thread/sleep 1)
          (recur state thread process))
      op)))

(defn- work! [{:keys [test history busy] :as state} first-process]
  (let [node (nth (:nodes test) (mod first-process (count (:nodes test))))]
    (loop [process first-process
           c       (client/open! (:client test) test node)]
      (client/setup! c test)
      (if-let [op (next! state :client process)]
        (let [done (try
                     (client/invoke! c test op)
                     (catch Exception e
                       (assoc op :type :info, :error (str "indeterminate: " (.getMessage e)))))]
          (locking history
            (swap! busy dec)
            (record! state done))
          (if (= :info (:type done))
            (do (client/close! c test)
                (recur (+ process (:concurrency test)) (client/open! (:client test) test node)))
            (recur process c)))
        (do (client/teardown! c test)
            (client/close! c test))))))

(defn- disturb! [{:keys [test history] :as state}]
  (when-let [n (:nemesis test)]
    (let [n (nemesis/setup! n test)]
      (loop []
        (when-let [op (next! state :nemesis :nemesis)]
          (let [done (assoc (nemesis/invoke! n test op) :type :info)]
            (locking history
              (record! state done)))
          (recur)))
      (nemesis/teardown! n test))))

(defn run! [test]
  (let [test  (assoc test :start-time (System/currentTimeMillis))
        state {:test test, :history (atom []), :generator (atom (:generator test)), :exhausted (atom false), :busy (atom 0)}]
    (clojure.core/run! deref (doall (cons (future (disturb! state))
                                          (for [process (range (:concurrency test))]
                                            (future (work! state process))))))
    (let [history @(:history state)]
      (assoc test
             :history history
             :results (checker/check-safe (:checker test) test history {})))))
