(ns clew.knossos-test
  "Random histories of Knossos's models, decided by its wgl, its linear and clew in
  one JVM: verdicts, :op and :previous-ok have to be the same. `make knossos
  KNOSSOS_CLASSPATH=..` runs many, with Knossos, and says what it does as it goes;
  without it, a small search in its place is the judge."
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

(defn- threads-of
  "The threads of a group that still run."
  [^ThreadGroup group]
  (let [all (make-array Thread (+ 64 (.activeCount group)))
        n   (.enumerate group all)]
    (filterv #(.isAlive ^Thread %) (take n all))))

(def java-version (Double/parseDouble (System/getProperty "java.specification.version")))

(defn- end-all
  "Ends the threads of a group: Knossos's searches run on after their time limit. An
  interrupt ends its searches, but not what it does before them. Java 20 and later
  cannot end that. Says whether all have ended."
  [^ThreadGroup group]
  (letfn [(ended? [ms]
            (loop [left (quot ms 20)]
              (cond
                (empty? (threads-of group)) true
                (zero? left)                false
                :else                       (do (Thread/sleep 20) (recur (dec left))))))]
    (.interrupt group)
    (or (ended? 500)
        (do (doseq [t (threads-of group)]
              (try (.invoke (.getMethod Thread "stop" (make-array Class 0)) t (object-array 0))
                   (catch Exception _)))
            (ended? (if (< java-version 20) 60000 2000))))))

(defn- within
  "(f) or, if it takes longer or throws, a result that says so: Knossos's linear may
  hang. f runs in a thread of its own, which ends with it, as do those that it starts."
  [ms f]
  (let [answer (promise)
        group  (ThreadGroup. "within")
        run    (bound-fn [] (deliver answer (try (f) (catch Throwable t {:valid? :unknown, :error (str t)}))))
        _      (.start (Thread. group ^Runnable run))
        result (deref answer ms {:valid? :unknown, :cause :timeout})]
    (if (or (not= :timeout (:cause result)) (end-all group))
      result
      (assoc result :runs-on true))))

(def knossos-limit
  "The milliseconds that each of Knossos's searches gets for a history."
  10000)

(defn endless?
  "Whether Knossos never ends on a history of a queue: it looks for all states first,
  and a queue of one or two values has states of every length."
  [history]
  (<= 1 (count (into #{} (comp (filter (comp #{[:invoke :enqueue]} (juxt :type :f))) (map :value)) history)) 2))

(defn compared
  "The results of all three, as what has to be the same of them."
  [model history]
  (let [knossos (fn [analysis] #(analysis model history {:time-limit knossos-limit}))
        shown   (fn [{:keys [valid? runs-on] :as result}]
                  (cond-> {:valid? valid?}
                    runs-on             (assoc :runs-on true)
                    (false? valid?)    (assoc :op (:index (:op result)), :previous-ok (:index (:previous-ok result)))
                    (= :unknown valid?) (assoc :why (or (:error result) (:cause result)))))]
    {:wgl    (shown (within (+ 1000 knossos-limit) (knossos wgl/analysis)))
     :linear (shown (within (+ 1000 knossos-limit) (knossos linear/analysis)))
     :clew   (shown (checker/check (clew/linearizable {:model model, :semantics :knossos, :time-limit 20000}) nil history {}))}))

(defn agree?
  "Whether clew decides, as Knossos does where it decides."
  [{:keys [clew] :as results}]
  (and (not= :unknown (:valid? clew))
       (every? #(or (= :unknown (:valid? %)) (= clew %)) (vals results))))

(defn- undecided [results]
  (count (filter #(= :unknown (:valid? (results %))) [:wgl :linear])))

(defn campaign
  "n histories of every model: a map of how many had each verdict, of how many were
  :left-out because Knossos never ends on them, and of how many searches of Knossos
  were :undecided or :run-on. differ is called for those with different verdicts, and
  say with a line about what has been done every few seconds."
  [n seed {:keys [differ say]}]
  (into (sorted-map)
        (for [[name {:keys [model] :as object}] objects]
          (let [r    (Random. (+ seed (hash name)))
                from (System/nanoTime)]
            (say (format "%-16s %d histories" name n))
            [name
             (loop [i 0, counts {}, said from]
               (let [now (System/nanoTime)]
                 (cond
                   (= i n)
                   counts
                   (< 5e9 (- now said))
                   (do (say (format "%-16s %d of %d after %.0f s: %s" name i n (/ (- now from) 1e9) (pr-str counts)))
                       (recur i counts now))
                   :else
                   (let [h (history r object (+ 2 (below r 14)))]
                     (if (endless? h)
                       (recur (inc i) (update counts :left-out (fnil inc 0)) said)
                       (let [results (compared model h)
                             more    (fn [counts key n] (cond-> counts (pos? n) (update key (fnil + 0) n)))]
                         (when-not (agree? results)
                           (differ name results h))
                         (recur (inc i)
                                (-> counts
                                    (update (:valid? (:clew results)) (fnil inc 0))
                                    (more :undecided (undecided results))
                                    (more :run-on (count (filter :runs-on (vals results)))))
                                said)))))))]))))

(deftest clew-says-what-knossos-says
  (let [differ (atom [])
        said   (atom [])
        counts (campaign 12 1 {:differ (fn [& what] (swap! differ conj what)), :say #(swap! said conj %)})
        all    (apply merge-with + (vals counts))]
    (is (empty? @differ))
    (is (= (set (keys objects)) (set (keys counts))))
    (is (every? #(re-find (re-pattern (str "(?m)^" % " +12 histories$")) (apply str (interpose "\n" @said))) (keys objects)))
    (is (every? #(< 1 (get all %)) [true false]) (pr-str counts))
    (is (zero? (:undecided all 0)) (pr-str counts))
    (is (pos? (:left-out all)))
    (is (= #{"fifo-queue" "unordered-queue"} (set (keys (filter (comp :left-out val) counts)))))))

(deftest what-takes-too-long-ends
  (let [ended (promise)
        spins (promise)
        both  (fn []
                (.start (Thread. #(try (Thread/sleep 60000) (catch InterruptedException _ (deliver ended true)))))
                (deliver spins (Thread/currentThread))
                (loop [] (recur)))]
    (is (= :timeout (:cause (within 5000 both)))) ; by then, both threads run
    (is (deref ended 60000 false))
    (when (< java-version 20)
      (is (not (.isAlive ^Thread @spins))))))

(deftest what-throws-is-a-result
  (is (= {:valid? :unknown, :error "java.lang.AssertionError: no"} (within 1000 #(throw (AssertionError. "no"))))))

(defn -main
  "Runs n histories of every model, from a seed."
  [& [n seed]]
  (let [failed (atom 0)
        seed   (if seed (Long/parseLong seed) (System/currentTimeMillis))
        n      (Long/parseLong (or n "200"))
        say    (fn [line] (println line) (flush))
        _      (say (str "seed " seed "; each history gets " (quot knossos-limit 1000) " s by wgl and by linear"))
        all    (campaign n seed {:say    say
                                 :differ (fn [name results h]
                                           (swap! failed inc)
                                           (println name (pr-str results))
                                           (run! prn h)
                                           (flush))})
        total  (fn [key] (transduce (map #(get % key 0)) + (vals all)))]
    (doseq [[name counts] all]
      (say (format "%-16s %s" name (pr-str counts))))
    (say (format "%d differ; %d queue histories left out, on which Knossos never ends; %d searches of Knossos undecided, of which %d could not be ended"
                 @failed (total :left-out) (total :undecided) (total :run-on)))
    (shutdown-agents)
    (System/exit (if (zero? @failed) 0 1))))
