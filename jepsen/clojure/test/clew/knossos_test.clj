(ns clew.knossos-test
  "Random histories of Knossos's models, decided by its wgl, its linear and clew in
  one JVM: verdicts, :op and :previous-ok have to be the same. `make knossos
  KNOSSOS_CLASSPATH=..` runs many, with Knossos; without it, a small search in its
  place is the judge."
  (:require [clew.checker :as clew]
            [clojure.test :refer [deftest is]]
            [jepsen.checker :as checker]
            [knossos.linear :as linear]
            [knossos.model :as model]
            [knossos.wgl :as wgl])
  (:import (java.util Random)))

(defn- below [^Random r n] (.nextInt r (int n)))
(defn- one [r & xs] (nth xs (below r (count xs))))

(defn- cas-step [state f v]
  (case f
    :read  [state state]
    :write [v v]
    :cas   (when (= state (first v))
             [(second v) v])))

(defn- take-one
  "A dequeue of the element at a place."
  [queue i]
  (when (seq queue)
    [(into (subvec queue 0 i) (subvec queue (inc i))) (queue i)]))

(def objects
  "By model: Knossos's, the state it begins with, a random [f value], and the step
  of an object that is right: [state returned], or nil if the operation fails."
  {"register"        {:model (model/register 0), :state 0, :step cas-step
                      :op #(one % [:read nil] [:write (below % 3)])}
   "cas-register"    {:model (model/cas-register 0), :state 0, :step cas-step
                      :op #(one % [:read nil] [:write (below % 3)] [:cas [(below % 3) (below % 3)]])}
   "multi-register"  {:model (model/multi-register {:x 0, :y 0}), :state {:x 0, :y 0}
                      :op    (fn [r] [:txn (vec (repeatedly (inc (below r 2)) #(one r [:read (one r :x :y) nil] [:write (one r :x :y) (below r 3)])))])
                      :step  (fn [state _ txn]
                               (reduce (fn [[s done] [f k v]]
                                         (if (= :write f)
                                           [(assoc s k v) (conj done [f k v])]
                                           [s (conj done [f k (s k)])]))
                                       [state []] txn))}
   "mutex"           {:model (model/mutex), :state false
                      :op   #(one % [:acquire nil] [:release nil])
                      :step (fn [held f _]
                              (when (not= held (= :acquire f))
                                [(not held) nil]))}
   "set"             {:model (model/set), :state #{}
                      :op   #(one % [:add (below % 5)] [:read nil])
                      :step (fn [s f v] (if (= :add f) [(conj s v) v] [s s]))}
   "unordered-queue" {:model (model/unordered-queue), :state []
                      :op   #(one % [:enqueue (below % 4)] [:dequeue nil])
                      :step (fn [q f v] (if (= :enqueue f) [(conj q v) v] (take-one q (quot (count q) 2))))}
   "fifo-queue"      {:model (model/fifo-queue), :state []
                      :op   #(one % [:enqueue (below % 4)] [:dequeue nil])
                      :step (fn [q f v] (if (= :enqueue f) [(conj q v) v] (take-one q 0)))}})

(defn- altered
  "What an operation might have returned instead, or if it had not failed."
  [r f value]
  (case f
    :read    (if (set? value) (conj value (below r 5)) (below r 3))
    :dequeue (below r 4)
    :txn     (mapv (fn [[f k v]] [f k (if (= :read f) (below r 3) v)]) value)
    value))

(defn history
  "n operations of four threads. Each takes effect somewhere between its invocation
  and its completion; some crash, before or after that, and go on as another process.
  In every other history, a completion now and then is wrong."
  [r {:keys [state step op]} n]
  (let [wrong (if (zero? (below r 2)) 0 0.3)
        end   (fn [{:keys [f value done]}]
                (cond
                  (zero? (below r 10))              [:info value]
                  (< (.nextDouble ^Random r) wrong) [:ok (altered r f (if done (peek done) value))]
                  done                              [:ok (peek done)]
                  :else                             [:fail value]))]
    (loop [events [], threads (into {} (map (fn [t] [t {:process t}])) (range 4)), state state, left n]
      (let [t (below r 4)
            {:keys [process f value stage] :as thread} (threads t)
            event (fn [type value] {:index (count events), :process process, :type type, :f f, :value value})]
        (cond
          (and (zero? left) (every? (complement :stage) (vals threads)))
          events
          (nil? stage)
          (if (zero? left)
            (recur events threads state left)
            (let [[f value] (op r)]
              (recur (conj events (assoc (event :invoke value) :f f))
                     (assoc threads t {:process process, :f f, :value value, :stage :invoked})
                     state (dec left))))
          (and (= :invoked stage) (pos? (below r 12)))
          (let [done (step state f value)]
            (recur events (assoc threads t (assoc thread :stage :applied, :done done)) (if done (first done) state) left))
          :else
          (let [[type value] (if (= :applied stage) (end thread) [:info value])]
            (recur (conj events (event type value))
                   (assoc threads t {:process (if (= :info type) (+ process 4) process)})
                   state left)))))))

(defn- within
  "(f) or, if it takes longer or throws, a result that says so: Knossos's linear may
  hang."
  [ms f]
  (let [answer (future (try (f) (catch Throwable t {:valid? :unknown, :error (str t)})))
        result (deref answer ms {:valid? :unknown, :cause :timeout})]
    (future-cancel answer)
    result))

(defn compared
  "The results of all three, as what has to be the same of them."
  [model history]
  (let [knossos (fn [analysis] #(analysis model history {:time-limit 10000}))
        shown   (fn [{:keys [valid?] :as result}]
                  (cond-> {:valid? valid?}
                    (false? valid?)    (assoc :op (:index (:op result)), :previous-ok (:index (:previous-ok result)))
                    (= :unknown valid?) (assoc :why (or (:error result) (:cause result)))))]
    {:wgl    (shown (within 20000 (knossos wgl/analysis)))
     :linear (shown (within 20000 (knossos linear/analysis)))
     :clew   (shown (checker/check (clew/linearizable {:model model, :semantics :knossos, :time-limit 20000}) nil history {}))}))

(defn agree?
  "Whether clew decides, as Knossos does where it decides."
  [{:keys [clew] :as results}]
  (and (not= :unknown (:valid? clew))
       (every? #(or (= :unknown (:valid? %)) (= clew %)) (vals results))))

(defn campaign
  "n histories of every model: a map of how many had each verdict. tell is called
  for those with different ones."
  [n seed tell]
  (into (sorted-map)
        (for [[name {:keys [model] :as object}] objects]
          (let [r (Random. (+ seed (hash name)))]
            [name (frequencies (for [_ (range n)]
                                 (let [h       (history r object (+ 2 (below r 14)))
                                       results (compared model h)]
                                   (when-not (agree? results)
                                     (tell name results h))
                                   (:valid? (:clew results)))))]))))

(deftest clew-says-what-knossos-says
  (let [differ (atom [])
        counts (campaign 12 1 (fn [& what] (swap! differ conj what)))]
    (is (empty? @differ))
    (is (= (set (keys objects)) (set (keys counts))))
    (is (every? #(< 1 (get (apply merge-with + (vals counts)) %)) [true false]) (pr-str counts))))

(defn -main
  "Runs n histories of every model, from a seed."
  [& [n seed]]
  (let [failed (atom 0)
        seed   (if seed (Long/parseLong seed) (System/currentTimeMillis))]
    (println "seed" seed)
    (doseq [[name counts] (campaign (Long/parseLong (or n "200")) seed
                                    (fn [name results h]
                                      (swap! failed inc)
                                      (println name (pr-str results))
                                      (run! prn h)))]
      (println (format "%-16s %s" name (pr-str counts))))
    (println @failed "differ")
    (shutdown-agents)
    (System/exit (if (zero? @failed) 0 1))))
