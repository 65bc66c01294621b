(ns clew.checker-test
  "Runs against real clew, which is on the PATH, and against shell scripts that
  misbehave in its place; with stand-ins for Jepsen, or with Jepsen itself. `run`
  beside this folder sets all of that up."
  (:require [clew.checker :as clew]
            [clojure.edn :as edn]
            [clojure.java.io :as io]
            [clojure.java.shell :refer [sh]]
            [clojure.pprint]
            [clojure.string :as str]
            [clojure.test :refer [deftest is testing]]
            [jepsen.checker :as checker]
            [jepsen.independent :as independent]
            [jepsen.store :as store]
            [knossos.model :as model])
  (:import (java.io File)))

;; Histories

(defn history
  "Operations one after another: each is [process f value] or, where the
  completion's differs, [process f value returned]; returned may be :crash."
  [& ops]
  (->> ops
       (mapcat (fn [[process f value & [returned :as more]]]
                 (let [op {:process process, :f f, :node "n1"}]
                   [(assoc op :type :invoke, :value value)
                    (if (= :crash returned)
                      (assoc op :type :info, :value value, :error "no answer")
                      (assoc op :type :ok, :value (if more returned value)))])))
       (map-indexed (fn [i op] (assoc op :index i, :time (* 1000 i))))
       vec))

(def good (history [0 :write 1] [1 :read nil 1]))
(def bad  (history [0 :write 1] [0 :write 2] [1 :read nil 1]))

(defn update-vals* [f m] (into {} (map (fn [[k v]] [k (f v)])) m)) ; Clojure 1.11 has it

(defn in-jepsen
  "A history as Jepsen has it: since 0.3 it is no vector."
  [h]
  (if-let [history (try (requiring-resolve 'jepsen.history/history) (catch java.io.FileNotFoundException _))]
    (history h)
    h))

;; Commands in clew's place

(def folder (doto (io/file "scripts") .mkdirs))
(def counter (atom 0))

(defn file [suffix] (io/file folder (str (swap! counter inc) suffix)))

(defn script
  "A program with that text."
  [& lines]
  (let [f (file ".sh")]
    (spit f (str "#!/bin/sh\n" (str/join "\n" lines) "\n"))
    (.setExecutable f true)
    [(.getAbsolutePath ^File f)]))

(defn check
  ([options history] (check options nil history))
  ([options test history]
   (checker/check (clew/linearizable (assoc options :lazy? true)) test history {})))

(def never
  "The milliseconds that stand for never, on a machine that is busy."
  600000)

(defn eventually
  "Waits for (f) to be true."
  [f]
  (loop [n 0]
    (or (f)
        (when (< n (quot never 10))
          (Thread/sleep 10)
          (recur (inc n))))))

(defn running? [pid]
  (let [{:keys [out]} (sh "ps" "-o" "stat=" "-p" (str pid))]
    (not (or (str/blank? out) (str/starts-with? (str/trim out) "Z")))))

(defn stop
  "Stops a process, and waits until it has stopped: until one of its threads has
  taken the signal, the others go on."
  [pid]
  (sh "kill" "-STOP" (str pid))
  (is (eventually #(str/starts-with? (str/trim (:out (sh "ps" "-o" "stat=" "-p" (str pid)))) "T"))))

(defn pids
  "The process ids in a file, once there are n lines."
  [f n]
  (eventually #(when (.exists ^File f)
                 (let [lines (str/split-lines (slurp f))]
                   (when (and (= n (count lines)) (str/ends-with? (slurp f) "\n"))
                     lines)))))

(defn named [name] {:name name, :start-time "20200101T000000.000Z"})

;; Verdicts

(def cases
  "For every model of clew's: a valid history and an invalid one, and the flags
  that it needs."
  {"register"         [(history [0 :write 1] [1 :read nil 1])
                       (history [0 :write 1] [1 :read nil 2])]
   "cas-register"     [(history [0 :write 1] [1 :cas [1 2]] [1 :read nil 2])
                       (history [0 :write 1] [1 :cas [2 3]])]
   "versioned-register" [(history [0 :write [nil 1] [1 1]] [1 :read [nil nil] [1 1]])
                         (history [0 :write [nil 1] [1 1]] [1 :read [nil nil] [2 1]])]
   "multi-register"   [(history [0 :txn [[:write :x 1] [:write :y 2]]] [1 :txn [[:read :x nil]] [[:read :x 1]]])
                       (history [0 :txn [[:write :x 1] [:write :y 2]]] [1 :txn [[:read :x nil]] [[:read :x 2]]])]
   "list-append"      [(history [0 :txn [[:append :x 1] [:append :y 2]]] [1 :txn [[:r :x nil]] [[:r :x [1]]]])
                       (history [0 :txn [[:append :x 1] [:append :y 2]]] [1 :txn [[:r :x nil]] [[:r :x nil]]])]
   "mutex"            [(history [0 :acquire nil] [0 :release nil] [1 :acquire nil])
                       (history [0 :acquire nil] [1 :acquire nil])]
   "semaphore"        [(history [0 :acquire nil] [1 :acquire nil])
                       (history [0 :acquire nil] [1 :acquire nil] [2 :acquire nil])
                       {:permits 2}]
   "owner-mutex"      [(history [0 :acquire nil] [0 :release nil])
                       (history [0 :acquire nil] [1 :release nil])]
   "reentrant-mutex"  [(history [0 :acquire nil] [0 :acquire nil])
                       (history [0 :acquire nil] [0 :acquire nil] [0 :acquire nil])]
   "owner-semaphore"  [(history [0 :acquire nil] [1 :acquire nil] [1 :release nil])
                       (history [0 :acquire nil] [1 :release nil])
                       {:permits 2}]
   "fenced-mutex"     [(history [0 :acquire nil {:client :a, :fence 1}] [0 :release nil {:client :a, :fence 1}])
                       (history [0 :acquire nil {:client :a, :fence 1}] [1 :acquire nil {:client :b, :fence 2}])]
   "reentrant-fenced-mutex" [(history [0 :acquire nil {:client :a, :fence 1}] [0 :acquire nil {:client :a, :fence 1}])
                             (history [0 :acquire nil {:client :a, :fence 1}] [1 :acquire nil {:client :b, :fence 2}])]
   "set"              [(history [0 :add 1] [1 :read nil #{1}])
                       (history [0 :add 1] [1 :read nil #{}])]
   "lookup-set"       [(history [0 :insert 1 [1 true]] [1 :contains 1 [1 true]])
                       (history [0 :insert 1 [1 true]] [1 :contains 1 [1 false]])]
   "fifo-queue"       [(history [0 :enqueue 1] [0 :enqueue 2] [1 :dequeue nil 1])
                       (history [0 :enqueue 1] [0 :enqueue 2] [1 :dequeue nil 2])]
   "unordered-queue"  [(history [0 :enqueue 1] [0 :enqueue 2] [1 :dequeue nil 2])
                       (history [0 :enqueue 1] [1 :dequeue nil 1] [1 :dequeue nil 1])]
   "stack"            [(history [0 :push 1] [0 :push 2] [1 :pop nil 2])
                       (history [0 :push 1] [0 :push 2] [1 :pop nil 1])]
   "priority-queue"   [(history [0 :enqueue 1] [0 :enqueue 2] [1 :dequeue nil 2])
                       (history [0 :enqueue 1] [0 :enqueue 2] [1 :dequeue nil 1])]
   "java-queue"       [(history [0 :offer 1 true] [0 :offer 2 true] [1 :poll nil 1])
                       (history [0 :offer 1 true] [0 :offer 2 true] [1 :poll nil 2])]
   "kv"               (let [of-x (fn [h] (mapv #(assoc % :key "x") h))]
                        [(of-x (history [0 :put "a"] [0 :append "b"] [1 :get nil "ab"]))
                         (of-x (history [0 :put "a"] [0 :append "b"] [1 :get nil "a"]))])
   "counter"          [(history [0 :add 1] [0 :add 2] [1 :read nil 3])
                       (history [1 :read nil 0] [0 :add 1] [0 :add 2] [1 :read nil 2])]
   "counting-semaphore" [(history [0 :incr nil true] [1 :decr nil true])
                         (history [0 :incr nil true] [1 :decr nil false])]
   "id-generator"     [(history [0 :generate nil 1] [1 :generate nil 2])
                       (history [0 :generate nil 2] [1 :generate nil 1])
                       {:ids :growing}]
   "bank"             [(history [0 :transfer {:from 1 :to 2 :amount 3}] [1 :read nil {1 -3, 2 3}])
                       (history [0 :transfer {:from 1 :to 2 :amount 3}] [1 :read nil {1 0, 2 3}])
                       {:negative-balances :allow, :init {}}]
   "log"              [(history [0 :append :a 0] [1 :read nil [:a]])
                       (history [0 :append :a 0] [1 :append :b 0])]
   "lease"            [(history [0 :claim [:a 1]] [1 :check nil :a])
                       (history [0 :claim [:a 1]] [1 :claim [:b 1]])]
   "etcd"             [(history [0 :put {:key "a", :value 1} {:revision 2}] [1 :range {:key "a"} {:revision 2, :kvs [{:key "a", :value 1}]}])
                       (history [0 :put {:key "a", :value 1} {:revision 2}] [1 :range {:key "a"} {:revision 2, :kvs []}])]})

(deftest every-model-has-its-verdicts
  (let [models (map #(first (str/split % #" ")) (str/split-lines (:out (sh "clew" "models"))))]
    (is (= (set models) (set (keys cases)))))
  (doseq [[name [valid invalid flags]] cases
          [history verdict] [[valid true] [invalid false]]
          model [(keyword name) (merge {:name name} flags)]
          :when (or (map? model) (nil? flags))]
    (testing (str model " " verdict)
      (let [result (check {:model model} history)]
        (is (= verdict (:valid? result)) (pr-str result))))))

(deftest a-model-file-is-a-model
  (let [model (file ".star")]
    (spit model "init = 0
def add(state, op):
    return state + op.value
def read(state, op):
    return state if op.out == state else inconsistent('it is %d' % state)
ops = {'add': add, 'read': read}
reads = ['read']
")
    (doseq [[read verdict] [[3 true] [2 false]]
            path [(.getPath model) model]]
      (let [result (check {:model {:file path}} (history [0 :add 1] [0 :add 2] [1 :read nil read]))]
        (is (= verdict (:valid? result)) (pr-str result))))
    (is (true? (:valid? (check {:model {:file model, :init 4}} (history [0 :add 1] [1 :read nil 5])))))
    (spit model "init = 0
def add(state, op):
    return state + 'x'
ops = {'add': add}
")
    (let [result (check {:model {:file model}} (history [0 :add 1]))]
      (is (= :command-failed (:error result)))
      (is (re-find #"in add: unknown binary op: int \+ string, on :add 1 \(index 1\) in state 0" (pr-str result)) (pr-str result)))))

(deftest knossos-models-are-known-by-their-class
  (doseq [[model ops verdict]
          [[(model/register)         [[0 :read nil nil] [0 :write 1] [0 :read nil 1]] true]
           [(model/register 5)       [[0 :read nil 5]] true]
           [(model/register 5)       [[0 :read nil 6]] false]
           [(model/cas-register)     [[0 :cas [nil 1]]] true]
           [(model/cas-register 0)   [[0 :cas [0 1]] [0 :read nil 1]] true]
           [(model/cas-register 0)   [[0 :cas [1 0]]] false]
           [(model/cas-register "a") [[0 :read nil "a"]] true]
           [(model/multi-register {:x 1}) [[0 :txn [[:read :x 1]]]] true]
           [(model/multi-register {:x 1}) [[0 :txn [[:read :x 2]]]] false]
           [(model/multi-register {}) [[0 :txn [[:write :x 2] [:read :x 2]]]] true]
           [(model/mutex)            [[0 :acquire nil]] true]
           [(model/mutex)            [[0 :release nil]] false]
           [(assoc (model/mutex) :locked? true) [[0 :release nil] [0 :acquire nil]] true]
           [(assoc (model/mutex) :locked? true) [[0 :acquire nil]] false]
           [(model/set)              [[0 :add 1] [0 :read nil #{1}]] true]
           [(model/set)              [[0 :read nil #{1}]] false]
           [(model/unordered-queue)  [[0 :enqueue 1] [0 :dequeue nil 1]] true]
           [(model/unordered-queue)  [[0 :dequeue nil 1]] false]
           [(model/fifo-queue)       [[0 :enqueue 1] [0 :enqueue 2] [0 :dequeue nil 1]] true]
           [(model/fifo-queue)       [[0 :enqueue 1] [0 :enqueue 2] [0 :dequeue nil 2]] false]
           [(update (model/fifo-queue) :pending conj 7) [[0 :dequeue nil 7]] true]
           [:cas-register            [[0 :write 1] [0 :cas [1 2]]] true]
           [{:name :cas-register, :init 0} [[0 :cas [0 1]]] true]
           [{:name :cas-register, :init -1} [[0 :read nil -1]] true]
           [nil                      [[0 :write 1] [0 :read nil 2]] false]]]
    (testing (pr-str model ops)
      (let [result (check {:model model} (apply history ops))]
        (is (= verdict (:valid? result)) (pr-str result))))))

(deftest algorithms-and-flags-are-passed-on
  (doseq [algorithm [:linear :wgl :competition :auto :window]]
    (is (true? (:valid? (check {:model :register, :algorithm algorithm} good))))
    (is (false? (:valid? (check {:model :register, :algorithm algorithm} bad)))))
  (is (= :clew/frontier (:analyzer (check {:model :register, :algorithm :linear} good))))
  (is (= :clew/window (:analyzer (check {:model :register, :algorithm :wgl} good))))
  (is (:verified? (check {:model :register, :verify true, :memory-limit "1GB", :time-limit 60000} good)))
  (let [seen   (file ".args")
        result (check {:command      (script "[ \"$1\" = check ] || exit 1"
                                             (str "printf '%s\\n' \"$@\" > " (.getAbsolutePath ^File seen))
                                             "echo '{:valid? true}'")
                       :model        {:name :semaphore, :permits 2}
                       :init         "a b"
                       :time-limit   1500
                       :memory-limit 1000000
                       :nil-reads    :exact
                       :verify       true
                       :strict       true}
                      good)
        lines  (str/split-lines (slurp seen))]
    (is (true? (:valid? result)))
    (is (= "check" (first lines)))
    (is (= #{"--model=semaphore" "--permits=2" "--init=\"a b\"" "--time-limit=1500ms" "--memory-limit=1000000B"
             "--nil-reads=exact" "--verify" "--strict" "--output=edn" "--stdin-is-lifeline"}
           (set (butlast (rest lines)))))
    (is (.isAbsolute (io/file (last lines))))))

;; What results tell of their check

(defn told [result] (:clew result))

(deftest results-tell-how-clew-was-asked
  (doseq [[options told-of-them]
          [[{:model (model/cas-register 0)}  {:model :cas-register, :init 0}]
           [{:model (model/register)}        {:model :register, :init nil}]
           [{:model :register}               {:model :register}]
           [{:model {:name "register", :init [1 {:a "b"} #{2.5M 3N 1/3} \c]}} {:model :register, :init [1 {:a "b"} #{2.5M 3N 1/3} \c]}]
           [{:model :semaphore, :permits 2}  {:model :semaphore, :permits 2}]
           [{:model :register, :semantics :knossos, :nil-reads "exact", :algorithm :linear, :time-limit "1m", :verify true}
            {:model :register, :semantics :knossos, :nil-reads "exact"}]
           [{}                               {}]
           [{:init 0}                        {:init 0}]
           [{:model {:file "/no/such.star"}} {:model-file "/no/such.star"}]
           ; A value that clew cannot be given again: what reads this must not take half of it.
           [{:model (model/register (Object.))} {}]]]
    (testing (pr-str options)
      (let [told (told (check options good))]
        (is (= (merge {:independent false, :semantics :jepsen} told-of-them) (dissoc told :version)))
        (is (= told (edn/read-string (pr-str told))) "as Jepsen prints it")
        (is (= told (edn/read-string (with-out-str (clojure.pprint/pprint told))))))))
  (is (re-find #"\S" (:version (told (check {} good)))))
  (is (str/starts-with? (:out (sh "clew" "version")) (str "clew " (:version (told (check {} good))))))
  (testing "of many keys, once"
    (let [h (mapv #(update % :value (partial independent/tuple 1)) good)
          r (checker/check (clew/independent {:model (model/register 3)}) nil h {})]
      (is (= {:model :register, :init 3, :independent true, :keyless :every, :semantics :jepsen} (dissoc (told r) :version)))
      (is (= [nil] (map told (vals (:results r)))))))
  (testing "if it gives no verdict"
    (is (= {:model :register, :independent false, :semantics :jepsen} (told (check {:model :register, :command ["/no/such/clew"]} good))))
    (is (nil? (told (check {:model 5} good))))))

(deftest clew-check-takes-it-from-the-stored-results
  (let [zero  (history [0 :read nil 0] [0 :write 1])
        keyed (mapv #(update % :value (partial independent/tuple 1)) zero)
        says  (fn [h checker]
                (let [f (file "-run")]
                  (.mkdirs ^File f)
                  (spit (io/file f "history.edn") (str/join "\n" (map pr-str h)))
                  (spit (io/file f "results.edn")
                        (with-out-str (clojure.pprint/pprint {:valid? true, :workload (checker/check checker nil (in-jepsen h) {})})))
                  (select-keys (edn/read-string {:default (fn [_ x] x)} (:out (sh "clew" "check" "--output" "edn" (str f))))
                               [:valid? :init :told-by])))
        told  {:valid? true, :init 0, :told-by "results.edn"}]
    (is (= told (says zero (clew/linearizable {:model (model/cas-register 0)}))))
    (is (= true (:valid? (says keyed (clew/independent {:model (model/cas-register 0)})))))
    (is (= true (:valid? (says keyed (independent/checker (clew/linearizable {:model (model/cas-register 0)}))))))
    (is (= {:valid? :unknown} (says zero (clew/linearizable {}))))))

(deftest clew-compare-agrees-with-the-stored-results
  (let [store (file "-store")]
    (doseq [[name [valid invalid flags]] cases
            [kind h] {"valid" valid, "invalid" invalid}
            :let [run (io/file store (str name "-" kind))]]
      (.mkdirs run)
      (spit (io/file run "history.edn") (str/join "\n" (map pr-str h)))
      (spit (io/file run "results.edn")
            (with-out-str (clojure.pprint/pprint (check {:model (merge {:name name} flags)} h)))))
    (let [{:keys [exit out]} (sh "clew" "compare" (str store))]
      (is (= 0 exit) out)
      (is (= (* 2 (count cases)) (count (re-seq #"(?m)^agree " out))) out))))

(deftest a-test-may-name-the-model
  (let [zero (history [0 :read nil 0] [0 :write 1])
        test {:model (model/cas-register 0)}]
    (is (= [true {:model :cas-register, :init 0}]
           ((juxt :valid? #(select-keys (told %) [:model :init])) (check {} test zero))))
    (is (= true (:valid? (checker/check (clew/independent {}) test (mapv #(update % :value (partial independent/tuple 1)) zero) {}))))
    (is (= false (:valid? (check {:model (model/register 7)} test zero))) "the options win")
    (is (= :unknown (:valid? (check {} {:model model/noop} zero))) "which was there unless a test named one")
    (is (= :unknown (:valid? (check {} {:model :of-another-kind} zero))))))

(deftest a-model-that-is-inferred-beside-one-that-is-given
  (let [both (fn [h] (checker/check (checker/compose {:inferred (clew/linearizable {})
                                                      :given    (clew/linearizable {:model (model/cas-register 0)})})
                                    {} h {}))]
    (testing "fails at the same operation"
      (let [{:keys [inferred given]} (both (history [0 :read nil 0] [0 :cas [0 1]] [1 :read nil 0] [0 :write 2]))]
        (is (= [false false] (map :valid? [inferred given])))
        (is (= 5 (:index (:op inferred)) (:index (:op given))))))
    (testing "is unknown where nothing but the default fails"
      (let [{:keys [inferred given]} (both (history [0 :read nil 0] [0 :cas [0 1]] [1 :read nil 1]))]
        (is (= [:unknown :initial-value] ((juxt :valid? :cause) inferred)))
        (is (true? (:valid? given)))))
    (testing "is valid where it begins with a write"
      (let [{:keys [inferred given]} (both (history [0 :write 3] [0 :cas [3 1]] [1 :read nil 1]))]
        (is (= [true true] (map :valid? [inferred given])))))))

(deftest time-limits-are-read-as-clew-reads-them
  (doseq [[limit ms] {nil nil, 1500 1500, "1500ms" 1500, "1.5s" 1500, "1m30s" 90000, "1h" 3600000,
                      "soon" nil, "5" nil, "1..5s" nil, "5 s" nil}]
    (is (= ms (#'clew/limit-ms limit)) (pr-str limit))))

(deftest noop-takes-every-history
  (doseq [h [good bad [] nil (in-jepsen bad) (history [0 :no-such-f 1])]]
    (let [result (check {:model model/noop} h)]
      (is (= {:valid? true, :model '{:tag knossos.model.NoOp, :value {}}, :configs [], :final-paths []} result))))
  (is (true? (:valid? (check {:model model/noop, :command ["/no/such/clew"]} bad))) "there is nothing to ask")
  (let [h      (vec (map-indexed #(assoc %2 :index %1) (concat (for [k [1 2], op bad] (update op :value (partial independent/tuple k))))))
        result (checker/check (clew/independent {:model model/noop}) (named "noop keys") (in-jepsen h) {})]
    (is (= [true []] ((juxt :valid? :failures) result)))
    (is (= {1 true, 2 true} (update-vals* :valid? (:results result)))))
  (is (true? (:valid? (checker/check (independent/checker (clew/linearizable {:model model/noop})) (named "noop") (in-jepsen bad) {})))))

;; Options

(defn refusal
  "What is said if something cannot be made."
  [f]
  (try
    (f)
    nil
    (catch clojure.lang.ExceptionInfo e
      (.getMessage e))))

(deftest mistakes-in-options-are-told-when-a-checker-is-made
  (let [models     (str/join ", " (map #(first (str/split % #" ")) (str/split-lines (:out (sh "clew" "models")))))
        algorithms (second (re-find #"--algorithm NAME +NAME: (.*) \(default" (:out (sh "clew" "check" "--help"))))
        rows       (edn/read-string (slurp (io/resource "clew/mistakes.edn")))]
    (is (< 200 (count rows)))
    (doseq [[options message] rows
            :let [options (binding [*ns* (the-ns 'clew.checker-test)] (eval options))
                  message (-> message (str/replace "$MODELS" models) (str/replace "$ALGORITHMS" algorithms))]
            make [clew/linearizable clew/independent]]
      (is (= message (refusal #(make options))) (pr-str options)))))

(deftest flags-of-clew-check-are-options
  (let [flags (set (map (comp keyword second) (re-seq #"(?m)^   --([a-z-]+)" (:out (sh "clew" "check" "--help")))))
        known (set (keys clew/options-of-checks))]
    (is (= #{:command :keep :lazy?} (set (remove flags known))))
    (is (= #{:all :clients :clock-error :empty :follow :help :html :idle :models :output :quiet :shard :shard-keys :stdin-is-lifeline :svg :unknown} (set (remove known flags))))
    (is (every? #'clew/elsewhere (remove known flags)) "which says why it is none")))

(deftest a-failing-history-may-be-measured
  (let [{:keys [valid? how-far]} (check {:model :register, :how-far true} bad)]
    (is (false? valid?))
    (is (= 1 (get-in how-far [:behind :versions])))
    (is (= :sequential (first (get-in how-far [:guarantees :hold]))))
    (is (= 1 (get-in how-far [:forgotten :count]))))
  (is (nil? (:how-far (check {:model :register} bad)))))

(deftest options-are-looked-at-by-the-first-check-if-they-are-lazy
  (is (= "[\"true\"] does not answer as clew does: expected one result map from clew, found nothing"
         (refusal #(clew/independent {:command ["true"]}))))
  (let [{:keys [error message]} (check {:modle :register} good)]
    (is (= [:cannot-run "unknown option :modle; did you mean :model?"] [error message])))
  (is (= :cannot-run (:error (checker/check (clew/independent {:modle :register, :lazy? true}) nil good {}))))
  (is (= :command-failed (:error (check {:model :registre} good)))))

(deftest options-that-are-not-given
  (doseq [options [nil {} {:model nil} {:model :register, :time-limit nil, :verify false, :keep nil}
                   {:priority :min} {:model "register", :init nil} {:time-limit 1.5} {:time-limit "1m30s"} {:memory-limit "1.5GiB"}
                   {:command "clew"} {:model :knossos.model/register} {:model {:name 'semaphore, :permits "2"}} {:model model/noop, :command ["/no/such/clew"]}]]
    (is (nil? (refusal #(clew/linearizable options))) (pr-str options))))

;; Results

(deftest results-hold-the-history-s-own-operations
  (let [own    (assoc-in bad [5 :debug] {:tried ["n1" "n2"]})
        result (check {:model (model/register)} own)]
    (is (false? (:valid? result)))
    (is (= (own 5) (:op result)))
    (is (= (own 3) (:previous-ok result)))
    (is (vector? (:configs result)))
    (is (vector? (:final-paths result)))
    (is (= (own 5) (:op (last (first (:final-paths result))))))
    (is (= [(assoc (own 4) :value 1)] (:pending (first (:configs result))))
        "an invocation has the value that it returned")
    (is (= '{:tag knossos.model.Inconsistent, :value {:msg "2≠1"}}
           (:model (last (first (:final-paths result))))))
    (is (= result (edn/read-string (pr-str result))) "it is plain data")
    (is (nil? (:file result)) "the file is gone")))

(deftest configs-and-final-paths-are-cut
  (let [ops    (repeat 30 {:op nil})
        result (check {:command (script (str "echo '" (pr-str {:valid? false, :configs ops, :final-paths ops}) "'; exit 1"))
                       :model   :register}
                      good)]
    (is (= [10 10] (map (comp count result) [:configs :final-paths])))))

(deftest operations-are-numbered-where-their-indices-do-not
  (doseq [change [#(dissoc % :index) #(assoc % :index 7) #(assoc % :index nil)]]
    (let [result (check {:model :register} (mapv change bad))]
      (is (false? (:valid? result)))
      (is (= [5 1] ((juxt :index :value) (:op result))))
      (is (= "n1" (:node (:op result))))))
  (testing "indices of a larger history are kept"
    (let [result (check {:model :register} (mapv #(update % :index * 10) bad))]
      (is (= 50 (:index (:op result)))))))

(deftest it-takes-jepsens-own-histories
  (let [result (check {:model :register} (in-jepsen bad))]
    (is (= (bad 5) (:op result)))
    (is (= (bad 3) (:previous-ok result)))))

(deftest only-clients-count
  (let [nemesis {:process :nemesis, :type :info, :f :write, :value 9}
        result  (check {:model :register} (vec (cons (assoc nemesis :index 0)
                                                     (map #(update % :index inc) bad))))]
    (is (= 6 (:index (:op result))))
    (is (= 0 (get-in result [:stats :skipped])))
    (is (true? (:valid? (check {:model :register} [nemesis]))))
    (is (true? (:valid? (check {:model :register} []))))
    (is (true? (:valid? (check {:model :register} nil))))))

(defrecord Point [x y])

(deftest values-that-edn-cannot-hold
  (let [object (Object.)
        same   (fn [a b]
                 (:valid? (check {:model :register, :nil-reads :exact} (history [0 :write a] [0 :read nil b]))))]
    (doseq [[a b] [[object object]
                   [#"a" #"a"]
                   [inc inc] [inc dec]
                   [(keyword "a b") (keyword "a b")] [(keyword "a b") (keyword "a c")]
                   [(keyword "a}") :a] [(symbol "1") 1] [(symbol "true") true]
                   [(java.net.URI. "a:b") (java.net.URI. "a:b")] [(java.net.URI. "a:b") (java.net.URI. "a:c")]
                   [(java.util.ArrayList. [1 2]) [1 2]] [(java.util.ArrayList. [1 2]) [2 1]]
                   [(java.util.HashMap. {:a object}) {:a object}] [{:a object} {:a (Object.)}]
                   [#{object} #{object}] [[object] [(Object.)]] [(list 1 object) [1 object]]
                   [(->Point 1 object) (->Point 1 object)] [(->Point 1 2) (->Point 1 3)] [(->Point 1 2) {:x 1, :y 2}]
                   [(range 5) [0 1 2 3 4]] [(map inc [1]) '(2)] [1 1N] [1 1.0] [(float 0.1) 0.1] [(float 0.5) 0.5] [##NaN ##NaN]
                   ["\ud800" "?"] ["\ud800" "\ud801"] ["\"\\\n" "\"\\\n"] [\newline \newline] [(char 0) (char 0)] [(char 0) (char 1)]
                   [1/2 0.5] [1.0M 1.0M] [#inst "2020" #inst "2020"]
                   [(java.time.Instant/ofEpochMilli 5) (java.time.Instant/ofEpochMilli 5)]
                   [(tagged-literal 'x object) (tagged-literal 'x object)]
                   [(tagged-literal 'x [1]) (tagged-literal 'x [1])] [(tagged-literal 'x [1N]) (tagged-literal 'x [1N])]
                   [(tagged-literal 'x [1]) (tagged-literal 'x [1N])] [(tagged-literal 'x 1) (tagged-literal 'x (int 1))]
                   [(tagged-literal 'x {:a #{1}}) (tagged-literal 'x {:a #{1N}})] [(tagged-literal 'x '(1)) (tagged-literal 'x [1])]
                   [(tagged-literal 'x 0.0) (tagged-literal 'x -0.0)] [(tagged-literal 'x ##NaN) (tagged-literal 'x ##NaN)]
                   [[(tagged-literal 'x "a")] (list (tagged-literal 'x "a"))] [(tagged-literal 'x "a") (tagged-literal 'y "a")]
                   [(tagged-literal 'clew.checker_test.Point {:x 1, :y 2}) (->Point 1 2)]
                   [(tagged-literal 'clew/object [0 "a"]) (tagged-literal 'clew/object [0 "a"])]
                   [(tagged-literal 'clew/object [0 (str object)]) object]
                   [(java.time.Instant/ofEpochMilli 5) (java.util.Date. 5)] [(java.util.Date. 5) (java.util.Date. 5)]
                   [(java.util.Date. 5) (java.util.Date. 6)] [[1 (java.util.Date. 5)] [1N (java.util.Date. 5)]]
                   [true (Boolean. true)] [false (Boolean. false)] [false nil] [(int 1) 1] [[(short 1)] [(byte 1)]]
                   [0.1 0.1] [1e300 1e300] [1e-5 1e-5] [0.1 0.2] [-0.0 0.0] [##Inf ##Inf] [##Inf ##-Inf] [1.0 1.0M] [1.0M 1.00M]
                   ["a b" "a b"] ["é" "é"] ["é" "e"] ["\"" "\\\""] ["\u007f" "\u007f"] ["😀" "😀"] ["😀" "😁"] ["a\nb\tc\rd\fe\bf\"g\\h" "a\nb\tc\rd\fe\bf\"g\\h"] ["a\n" "a\\n"] ["\u0000" "\u0001"] ["" ""] ["nil" nil] [:a "a"] [:a 'a]
                   [:a/b :a/b] [:a/b :a] ['a/b 'a/b] [(keyword "") (keyword "")] [(symbol "nil") nil] [(with-meta 'a {:b 1}) 'a]
                   [[] []] [[] ()] [[] {}] [() nil] [#{} #{}] [#{} {}] [{} {}] [{:a nil} {}] [{:a 1, :b 2} {:b 2, :a 1N}] [{1 2} #{[1 2]}]
                   [(sorted-map 1 2) {1 2}] [(sorted-set 2 1) #{1 2}] [(first {1 2}) [1 2]] [(subvec [0 1] 1) [1]] [(vector-of :long 1) [1]]
                   [(cons 1 [2]) [1 2]] [(lazy-seq [1 2]) [1 2]] [(conj clojure.lang.PersistentQueue/EMPTY 1) [1]] [(seq "ab") [\a \b]]
                   [(into-array Object [(float 0.5)]) 0.5] [#{(float 0.5) 1} #{0.5 1}]
                   [(java.util.HashSet. [1 2]) #{1 2}] [(zipmap (range 20) (range)) (zipmap (range 20) (map int (range)))]
                   [(byte-array 2) (byte-array 2)] [(java.util.concurrent.atomic.AtomicLong. 5) 5]]]
      (is (= (= a b) (same a b)) (pr-str a b)))
    (testing "which the initial value holds, too"
      (let [models #(do [(model/register %) {:name :register, :init %}])]
        (doseq [model (concat (models object) (models [(Object.) object]))
                :let [init (or (:init model) (:value model))]]
          (is (true? (:valid? (check {:model model} (history [0 :write #"a" :crash] [0 :read nil init])))))
          (is (false? (:valid? (check {:model model} (history [0 :read nil (Object.)]))))))))
    (testing "which come back as they were"
      (let [h      (history [0 :write [object]] [0 :read nil #"a"])
            result (check {:model :register} h)]
        (is (false? (:valid? result)))
        (is (= (h 3) (:op result)))
        (is (identical? object (get-in result [:previous-ok :value 0])))))
    (testing "and a REPL's settings do not matter"
      (binding [*print-length* 1, *print-level* 1, *print-namespace-maps* true, *print-meta* true]
        (is (true? (same [1 [2 {:a/b [^:c [3] 4]}]] [1 [2 {:a/b [[3] 4]}]])))
        (is (false? (same [1 [2 {:a/b [^:c [3] 4]}]] [1 [2 {:a/b [[3] 5]}]])))))))

;; What a check leaves behind

(defn stored [test & path] (io/file (apply store/path! test path)))

(defn files [test]
  (set (.list (.getParentFile ^File (stored test "file")))))

(deftest a-test-with-a-name-keeps-files
  (let [test   (named "kept")
        result (check {:model :register, :keep true} test bad)]
    (is (false? (:valid? result)))
    (is (= 6 (count (str/split-lines (slurp (stored test "linearizable-history-register.edn"))))))
    (is (= (.getAbsolutePath ^File (stored test "linearizable-history-register.edn")) (:file result)))
    (is (= 1 (:exit (sh "clew" "check" "--model=register" (:file result))))))
  (let [test   (named "files")
        result (check {:model :register} test bad)]
    (is (false? (:valid? result)))
    (is (nil? (:file result)))
    (is (= #{"clew-register.svg" "clew-register.html" "linear.svg"} (files test)) "clew said nothing")
    (doseq [picture ["clew-register.svg" "linear.svg"]]
      (with-open [in (io/input-stream (stored test picture))]
        (is (= "svg" (-> (doto (javax.xml.parsers.DocumentBuilderFactory/newInstance)
                           (.setFeature "http://apache.org/xml/features/nonvalidating/load-external-dtd" false))
                         .newDocumentBuilder (.parse in) .getDocumentElement .getTagName))))))
  (let [test (named "valid")]
    (is (true? (:valid? (check {:model :register} test good))))
    (is (= #{} (files test)) "there was nothing to draw, which is nothing to say")))

(deftest files-are-named-for-the-model-of-their-check
  (let [model (file ".star")
        test  (named "several checkers")]
    (spit model "init = 0\ndef write(state, op):\n    return op.value\ndef read(state, op):\n    return state if op.out == state else inconsistent('no')\nops = {'write': write, 'read': read}\nreads = ['read']\n")
    (is (false? (:valid? (checker/check (checker/compose {:a (clew/linearizable {:model (model/register)})
                                                          :b (clew/linearizable {:model :cas-register})
                                                          :c (clew/linearizable {:model {:file (str model)}})
                                                          :d (clew/linearizable {})})
                                        test bad {}))))
    (is (= (into #{"linear.svg"} (for [name ["-register" "-cas-register" (str "-" (str/replace (.getName ^File model) ".star" "")) ""]
                                       ending [".svg" ".html"]]
                                   (str "clew" name ending)))
           (files test)))))

(deftest a-page-lies-beside-the-picture
  (let [page     "<!doctype html>"
        says     "echo '{:valid? false}'; exit 1"
        pictures (fn [name & command]
                   (let [test (named name)]
                     [(:valid? (check {:model :register, :command (apply script command)} test bad))
                      (filter (files test) ["clew-register.svg" "clew-register.html"])]))]
    (is (= [false ["clew-register.html"]]
           (pictures "a page" "for arg; do case $arg in --html=*) echo '<!doctype html>' > \"${arg#--html=}\";; esac; done" says)))
    (is (= (str page "\n") (slurp (stored (named "a page") "clew-register.html"))))
    (testing "if clew knows pages"
      (let [refuse (str "case \"$*\" in *--html*) echo 'clew: unknown flag --html; clew check --help lists the flags' >&2; exit 254;;"
                        " serve*) exit 254;; esac")]
        (is (= [false ["clew-register.svg"]] (pictures "no page" refuse "exec clew \"$@\"")))
        (is (not (.exists ^File (stored (named "no page") "linearizable-register.log"))))
        (is (= :unknown (first (pictures "another flag" "echo 'clew: unknown flag --model' >&2; exit 254"))))))
    (when (str/includes? (:out (sh "clew" "check" "--help")) "--html")
      (let [test (named "real page")]
        (is (false? (:valid? (check {:model :register} test bad))))
        (is (re-find #"(?i)<html" (slurp (stored test "clew-register.html")))))
      (let [test (named "valid without a page")]
        (is (true? (:valid? (check {:model :register} test good))))
        (is (not (.exists ^File (stored test "clew-register.html"))))))))

(deftest a-picture-of-knossos-s-stays
  (let [knossos (fn [delay-ms]
                  (reify checker/Checker
                    (check [_ test _ _]
                      (Thread/sleep delay-ms)
                      (spit (stored test "linear.svg") "drawn by Knossos")
                      {:valid? false})))]
    (doseq [delay-ms [0 50 1000]
            :let [test (named (str "beside Knossos " delay-ms))
                  both (checker/compose {:knossos (knossos delay-ms), :clew (clew/linearizable {:model :register})})]]
      (is (false? (:valid? (checker/check both test bad {}))))
      (is (= "drawn by Knossos" (slurp (stored test "linear.svg"))))
      (is (str/includes? (slurp (stored test "clew-register.svg")) "<svg"))
      (is (every? (files test) ["clew-register.svg" "linear.svg"]))
      (is (empty? (filter #(re-find #"tmp|copy" %) (files test))))
      (testing "when the test is checked again"
        (is (false? (:valid? (check {:model :register} test bad))))
        (is (= "drawn by Knossos" (slurp (stored test "linear.svg"))))))))

(deftest a-test-that-is-checked-again-has-the-picture-of-the-last-failure
  (let [test     (named "again")
        pictures #(map (fn [n] (slurp (stored test n))) ["clew-register.svg" "linear.svg"])]
    (check {:model :register} test bad)
    (let [before (pictures)]
      (is (apply = before))
      (check {:model :register} test (assoc-in bad [5 :value] 7))
      (is (apply = (pictures)))
      (is (not= before (pictures))))))

(deftest standard-error-is-kept
  (let [test   (named "log")
        result (check {:model :register, :threads 2} test good)]
    (is (= :command-failed (:error result)))
    (is (= 254 (:exit result)))
    (is (str/includes? (:message result) "--threads applies to"))
    (is (str/includes? (slurp (stored test "linearizable-register.log")) "--threads applies to"))))

(deftest two-checks-of-a-test-do-not-overwrite-each-other
  (let [test    (named "two")
        checker (checker/compose {:a (clew/linearizable {:model :register})
                                  :b (reify checker/Checker
                                       (check [_ test _ opts]
                                         (checker/check (clew/linearizable {:model :register}) test good opts)))
                                  :c (clew/linearizable {:model :register})})]
    (dotimes [_ 5]
      (is (= [false true false] (map (comp :valid? (checker/check checker test bad {})) [:a :b :c]))))
    (is (empty? @@#'clew/claimed))))

(deftest temporary-files-are-removed
  (let [scratch #(set (filter (fn [n] (str/starts-with? n "clew-check"))
                              (.list (io/file (System/getProperty "java.io.tmpdir")))))
        before  (scratch)]
    (check {:model :register} bad)
    (check {:model :register, :command ["/no/such/clew"]} bad)
    (is (= before (scratch)))))

;; What can go wrong

(defn harmless
  "Checks under compose beside a checker that is well, and returns the result."
  [options]
  (let [well   (reify checker/Checker (check [_ _ _ _] {:valid? true, :well true}))
        result (checker/check (checker/compose {:clew (clew/linearizable (assoc options :lazy? true)), :well well})
                              {} good {})]
    (is (= {:valid? true, :well true} (:well result)))
    (is (= :unknown (:valid? result) (:valid? (:clew result))))
    (is (= [[] []] ((juxt :configs :final-paths) (:clew result))))
    (:clew result)))

(deftest every-failure-is-unknown-and-has-a-name
  (doseq [[what options error]
          [["a missing binary" {:command ["/no/such/clew"]} :cannot-run]
           ["a command that is not on the PATH" {:command ["no-such-clew"]} :cannot-run]
           ["a folder" {:command ["/"]} :cannot-run]
           ["no command" {:command []} :cannot-run]
           ["an unknown Knossos model" {:model (->Point 1 2)} :cannot-run]
           ["no model" {:model 5} :cannot-run]
           ["a model without a name" {:model {:init 0}} :cannot-run]
           ["an unknown model" {:model :no-such-model} :command-failed]
           ["an unknown algorithm" {:algorithm :none} :command-failed]
           ["a value that the model cannot read" {:model :mutex} :command-failed]
           ["exit status 17" {:command (script "exit 17")} :command-failed]
           ["exit status 17 after an answer" {:command (script "echo '{:valid? true}'; exit 17")} :command-failed]
           ["a signal" {:command (script "kill -9 $$")} :command-failed]
           ["garbage" {:command (script "echo '{:valid? true'")} :unparsable-output]
           ["a closing bracket" {:command (script "echo '{:valid? true})'")} :unparsable-output]
           ["two maps" {:command (script "echo '{:valid? true} {:valid? true}'")} :unparsable-output]
           ["no map" {:command (script "echo '[:valid? true]'")} :unparsable-output]
           ["another verdict" {:command (script "echo '{:valid? :maybe}'")} :unparsable-output]
           ["no verdict" {:command (script "echo '{:foo 1}'")} :unparsable-output]
           ["configs that are none" {:command (script "echo '{:valid? true :configs 5}'")} :unparsable-output]
           ["nothing" {:command (script "exit 0")} :unparsable-output]
           ["nothing, and exit status 2" {:command (script "exit 2")} :unparsable-output]
           ["binary data" {:command (script "head -c 10000 /bin/sh")} :unparsable-output]
           ["brackets without end" {:command (script "yes '[' | head -n 100000")} :unparsable-output]
           ["true and exit status 1" {:command (script "echo '{:valid? true}'; exit 1")} :exit-code-mismatch]
           ["false and exit status 0" {:command (script "echo '{:valid? false}'")} :exit-code-mismatch]
           ["unknown and exit status 0" {:command (script "echo '{:valid? :unknown}'")} :exit-code-mismatch]
           ["3 MB of garbage on both streams"
            {:command (script "yes garbage | head -c 3000000 >&2; yes garbage | head -c 3000000")} :unparsable-output]]]
    (testing what
      (let [result (harmless (merge {:model :register} options))]
        (is (= error (:error result)) (pr-str result))
        (is (string? (:message result)))
        (is (< (count (:message result)) 5000))))))

(deftest a-missing-clew-is-told-from-where-it-is-expected
  (let [{:keys [message]} (harmless {:model :register, :command ["no-such-clew"]})]
    (is (str/includes? message "\"no-such-clew\""))
    (is (str/ends-with? message "; expected clew on the PATH of the control node, or the command that runs it as :command, such as [\"/opt/clew\"]"))))

(deftest three-megabytes-on-both-streams-are-no-failure
  (let [result (check {:model   :register
                       :command (script "yes noise | head -c 3000000 >&2"
                                        "echo '{:valid? true :padding \"'"
                                        "yes noise | head -c 3000000"
                                        "echo '\"}'")}
                      good)]
    (is (true? (:valid? result)))
    (is (= 3000001 (count (:padding result))))))

(deftest what-a-check-is-given-may-be-nothing
  (doseq [test [nil {} {:name "x"} {:start-time "y"}]
          opts [nil {}]]
    (is (true? (:valid? (checker/check (clew/linearizable {:model :register}) test good opts)))))
  (testing "or of the wrong kind"
    (doseq [history [5 [5] [{}] [{:process 0}] [{:process 0, :type :ok, :f :read}] (cons {:process 0} (lazy-seq (throw (Error.))))]]
      (is (contains? #{:unknown true} (:valid? (check {:model :register} history))) (pr-str (type history)))))
  (testing "such as values that cannot be printed"
    (let [array (object-array 1)
          list  (java.util.ArrayList.)]
      (aset array 0 array)
      (.add list list)
      (is (true? (:valid? (check {:model :register} (history [0 :write array])))))
      (is (= :cannot-run (:error (check {:model :register} (history [0 :write list]))))))))

(deftest a-folder-that-cannot-be-made-does-not-matter
  (spit (doto (io/file "store" "blocked") io/make-parents) "a file in its place")
  (is (false? (:valid? (check {:model :register} (named "blocked") bad)))))

;; Nothing survives

(deftest a-child-that-does-not-end-is-killed-with-its-descendants
  (let [f      (file ".pids")
        result (binding [clew/*grace-ms* 300]
                 (check {:model      :register
                         :time-limit 200
                         :command    (script "trap '' TERM INT HUP"
                                             (str "(trap '' TERM; echo $$ >> " (.getAbsolutePath ^File f) "; sleep 1000) &")
                                             (str "sleep 1000 & echo $! >> " (.getAbsolutePath ^File f))
                                             "while :; do sleep 1000; done")}
                        good))]
    (is (= :timeout (:error result)) (pr-str result))
    (doseq [pid (pids f 2)]
      (is (eventually #(not (running? pid))) pid))))

(deftest clew-s-own-time-limit-is-an-answer
  ; Transactions at once that a search tries every set of, as in hard_test.go.
  (let [txn    (fn [i] [[:w (mod i 5) i] [:w (mod (inc i) 5) i] [:w 5 0]])
        reads  [[:r 0 0] [:r 1 1] [:r 2 2] [:r 3 3] [:r 4 4] [:r 5 0]]
        events (concat (for [i (range 60)] {:process i, :type :invoke, :f :txn, :value (txn i)})
                       (for [i (range 60)] {:process i, :type :ok, :f :txn, :value (txn i)})
                       [{:process 0, :type :invoke, :f :txn, :value reads}
                        {:process 0, :type :ok, :f :txn, :value reads}])
        result (check {:model :multi-register, :time-limit 200} (vec events))]
    (is (= [:unknown :timeout nil] ((juxt :valid? :cause :error) result)))))

(deftest an-interrupt-kills-the-child
  (let [f      (file ".pids")
        result (promise)
        thread (Thread. #(let [r (check {:model   :register
                                         :command (script (str "sleep 1000 & echo $! > " (.getAbsolutePath ^File f))
                                                          (str "echo $$ >> " (.getAbsolutePath ^File f))
                                                          "wait")}
                                        good)]
                           (deliver result [r (.isInterrupted (Thread/currentThread))])))]
    (.start thread)
    (let [both (pids f 2)]
      (is (every? running? both))
      (.interrupt thread)
      (let [[r interrupted] (deref result never nil)]
        (is (= [:unknown :command-failed :interrupted] ((juxt :valid? :error :cause) r)))
        (is interrupted "the thread still knows"))
      (doseq [pid both]
        (is (eventually #(not (running? pid))) pid)))))

;; One process for all checks

(defn of-key [k h] (mapv #(update % :value (fn [v] (independent/tuple k v))) h))

(defn interleaved
  "Histories of many keys as one."
  [& parts]
  (vec (map-indexed #(assoc %2 :index %1)
                    (mapcat (fn [i h] (map #(update % :process + (* 10 i)) h)) (range) parts))))

(defn speaking-script
  "Clew, after a line, with its pid in a file."
  [^File f & lines]
  (apply script (concat lines [(str "echo $$ >> " (.getAbsolutePath f)) "exec clew \"$@\""])))

(defn pids-in [^File f] (if (.exists f) (str/split-lines (slurp f)) []))

(defn in-jvm
  "Begins another JVM, which evaluates a form, and returns it."
  ^Process [form ^File log]
  (-> (ProcessBuilder. ^java.util.List
        [(str (System/getProperty "java.home") "/bin/java")
         (str "-Djava.io.tmpdir=" (System/getProperty "java.io.tmpdir"))
         "-cp" (System/getProperty "java.class.path") "clojure.main" "-e" (pr-str form)])
      (.redirectErrorStream true)
      (.redirectOutput log)
      .start))

(defn killed-with-its-jvm
  "Whether a process ends after the JVM that has begun it, which is killed a while
  after the process has written its pid to a file. Nothing is left of either, whatever
  goes wrong."
  [form pid-file while-ms]
  (let [log (file ".log")
        jvm (in-jvm form log)]
    (try
      (let [[pid] (or (pids pid-file 1) (throw (Exception. ^String (slurp log))))]
        (Thread/sleep while-ms)
        (is (running? pid))
        (.destroyForcibly jvm) ; kill -9
        (.waitFor jvm)
        (eventually #(not (running? pid))))
      (finally
        (.destroyForcibly jvm)
        (.waitFor jvm)
        (run! #(sh "kill" "-9" %) (pids-in pid-file))))))

(def hard
  "Transactions at once that a search tries every set of, as in hard_test.go."
  (let [txn (fn [i] [[:w (mod i 5) i] [:w (mod (inc i) 5) i]])]
    (vec (concat (for [i (range 60)] {:process i, :type :invoke, :f :txn, :value (txn i)})
                 (for [i (range 60)] {:process i, :type :ok, :f :txn, :value (txn i)})
                 (for [type [:invoke :ok]]
                   {:process 0, :type type, :f :txn, :value [[:r 0 0] [:r 1 1] [:r 2 2] [:r 3 3] [:r 4 4]]})))))

(deftest one-process-decides-the-checks-of-all-threads
  (let [f       (file ".pids")
        checker (clew/linearizable {:model :register, :command (speaking-script f)})
        h       (apply interleaved (map #(of-key % (if (zero? (mod % 7)) bad good)) (range 1 60)))
        results (doall (pmap (fn [_] (checker/check (independent/checker checker) nil (in-jepsen h) {})) (range 4)))]
    (doseq [result results]
      (is (= (filter #(zero? (mod % 7)) (range 1 60)) (sort (:failures result))))
      (is (= {false 8, true 51} (frequencies (map :valid? (vals (:results result)))))))
    (is (= 1 (count (pids-in f))))
    (testing "and lives on after a check that went wrong"
      (is (= :command-failed (:error (checker/check checker nil (history [0 :no-such-f 1]) {}))))
      (is (true? (:valid? (checker/check checker nil good {}))))
      (is (= 1 (count (pids-in f)))))
    (testing "is begun again when it has ended"
      (sh "kill" "-9" (first (pids-in f)))
      (is (eventually #(not (running? (first (pids-in f))))))
      (dotimes [_ 3]
        (is (false? (:valid? (checker/check checker nil bad {})))))
      (is (<= 2 (count (pids-in f)) 3)))))

(deftest checks-survive-a-clew-that-is-killed
  (let [f       (file ".pids")
        options {:model :multi-register, :algorithm :window, :time-limit 3000, :command (speaking-script f)}
        result  (future (check options hard))
        [pid]   (pids f 1)
        others  (mapv (fn [_] (future (check (assoc options :model :register) bad))) (range 3))]
    (Thread/sleep 500)
    (sh "kill" "-9" pid)
    (is (= [:unknown :timeout nil] ((juxt :valid? :cause :error) @result)))
    (is (every? false? (map (comp :valid? deref) others)))))

(deftest an-interrupt-cancels-a-check-and-no-other
  (let [f       (file ".pids")
        options {:model :multi-register, :algorithm :window, :command (speaking-script f)}
        begin   #(let [result (promise)
                       thread (Thread. (fn [] (deliver result (check % hard))))]
                   (.start thread)
                   [thread result])
        [^Thread thread result] (begin options)
        [_ other]               (begin (assoc options :time-limit 4000))
        [pid]                   (pids f 1)]
    (Thread/sleep 1000)
    (.interrupt thread)
    (is (= [:unknown :command-failed :interrupted] ((juxt :valid? :error :cause) (deref result never nil))))
    (is (= [:unknown :timeout nil] ((juxt :valid? :cause :error) (deref other never nil))))
    (is (true? (:valid? (check (assoc options :model :register) good))))
    (is (= [pid] (pids-in f)) "it is still there")))

(deftest an-interrupt-ends-a-clew-that-hangs
  (let [f      (file ".pids")
        asked  {:model :register, :command (speaking-script f)}
        _      (is (true? (:valid? (check asked good))))
        [pid]  (pids f 1)
        _      (stop pid)
        long   (apply history (repeat 100000 [0 :write 1])) ; more than a pipe holds
        result (promise)
        thread (Thread. #(deliver result (check asked long)))]
    (.start thread)
    (is (eventually #(= Thread$State/TIMED_WAITING (.getState thread))))
    (.interrupt thread)
    (is (= [:unknown :command-failed :interrupted] ((juxt :valid? :error :cause) (deref result never nil))))
    (is (eventually #(not (running? pid))))
    (is (true? (:valid? (check asked good))))
    (testing "and so does a time limit"
      (let [pid (last (pids-in f))]
        (stop pid)
        (is (= :timeout (:error (binding [clew/*grace-ms* 300]
                                  (check (assoc asked :time-limit 200) good)))))
        (is (eventually #(not (running? pid))))))))

(deftest an-older-clew-decides-each-check-in-a-process
  (let [f   (file ".args")
        old (script (str "echo $1 >> " (.getAbsolutePath ^File f))
                    "[ \"$1\" != serve ] || { echo 'clew: unknown flag --stdio; clew serve --help lists the flags' >&2; exit 254; }"
                    "exec clew \"$@\"")]
    (doseq [[h valid?] [[good true] [bad false] [good true]]]
      (is (= valid? (:valid? (check {:model :register, :command old} h)))))
    (is (= {"serve" 1, "check" 3} (dissoc (frequencies (pids-in f)) "version")))
    (is (= :command-failed (:error (check {:model :register, :threads 2, :command old} good))))))

(deftest the-one-process-ends-with-the-jvm
  (let [f (file ".pids")]
    (is (killed-with-its-jvm
          `(do (require '~'clew.checker-test)
               ((resolve '~'clew.checker-test/check)
                {:model :multi-register, :algorithm :window, :command ~(speaking-script f)} (deref (resolve '~'clew.checker-test/hard))))
          f 1000))))

(deftest clew-ends-with-the-jvm
  (let [f    (file ".pid")
        fifo (file ".fifo")]
    (sh "mkfifo" (.getPath ^File fifo))
    (is (killed-with-its-jvm
          `(do (require '~'clew.checker '~'jepsen.checker)
               (jepsen.checker/check
                 (clew.checker/linearizable
                   ; clew itself, which waits for a history that never comes
                   {:model :register
                    :lazy?  true
                    :command ~(script "[ $1 = check ] || exit 254"
                                      (str "echo $$ > " (.getAbsolutePath ^File f))
                                      (str "exec clew \"$@\" " (.getAbsolutePath ^File fifo)))})
                 nil [] nil))
          f 0))))

;; Many keys

;; Each of two transactions reads what the other one appends to, before it does.
(def skew
  (map-indexed (fn [i op] (assoc op :index i, :time (* 1000 i)))
               [{:process 0, :type :invoke, :f :txn, :value [[:r :x nil] [:append :y 1]]}
                {:process 1, :type :invoke, :f :txn, :value [[:r :y nil] [:append :x 2]]}
                {:process 0, :type :ok, :f :txn, :value [[:r :x []] [:append :y 1]]}
                {:process 1, :type :ok, :f :txn, :value [[:r :y []] [:append :x 2]]}]))

(deftest transactions-have-levels
  (let [check #(checker/check (clew/transactions %) nil (in-jepsen (vec skew)) {})]
    (doseq [options [{} {:model :list-append} {:consistency-models [:serializable], :directory "elle", :plot-format :svg}]]
      (let [{:keys [valid? anomaly-types not]} (check options)]
        (is (false? valid?) options)
        (is (= [:G2-item] (vec anomaly-types)))
        (is (= #{:serializable} (set not)))))
    (is (true? (:valid? (check {:consistency-models [:snapshot-isolation]}))))
    (is (true? (:valid? (check {:consistency :snapshot-isolation})))))
  (let [h (history [0 :txn [[:w :x 1]]] [1 :txn [[:r :x nil]] [[:r :x nil]]])]
    (is (false? (:valid? (checker/check (clew/transactions {:model :rw-register}) nil h {})))))
  (doseq [[options message] {{:consistency-models []}               ":consistency-models must have one level such as [:serializable], not []"
                             {:consistency-models [:a :b]}          ":consistency-models must have one level such as [:serializable], not [:a :b]"
                             {:consistency-models [:serialisable]}  #"unknown consistency level .*serialisable.*; did you mean serializable"
                             {:model :list-append, :anomalies [:G1]} "unknown option :anomalies: it is one of Elle's; :consistency names a level"}]
    (let [said (try (clew/transactions options) (catch clojure.lang.ExceptionInfo e (.getMessage e)))]
      (is (if (string? message) (str/includes? said message) (re-find message said)) (str said)))))

(deftest it-works-under-independent-checker
  (let [test    (named "independent")
        h       (interleaved (of-key 1 good) (of-key 2 bad))
        result  (checker/check (independent/checker (clew/linearizable {:model :register})) test (in-jepsen h) {})]
    (is (= {:valid? false, :failures [2]} (select-keys result [:valid? :failures])))
    (is (= {1 true, 2 false} (update-vals* :valid? (:results result))))
    (is (= (assoc (h 9) :value 1) (get-in result [:results 2 :op])))
    (is (.exists ^File (stored test "independent" 2 "clew-register.svg")))
    (is (.exists ^File (stored test "independent" 2 "linear.svg")))
    (is (not (.exists ^File (stored test "independent" 1 "clew-register.html"))))))

(deftest keys-go-to-one-process
  (let [h      (interleaved (of-key 1 good) (of-key "two" bad) (of-key #"3" good))
        seen   (file ".edn")
        regex  (-> (h 10) :value key)
        answer {:valid?   false
                :results  {1     {:valid? true, :configs [], :final-paths []}
                           "two" {:valid? false, :op (update (h 9) :value vec), :configs (repeat 20 {}), :final-paths []}
                           'X    {:valid? :unknown}}
                :failures ["two"]}
        answer (str/replace (pr-str answer) "X" "#clew/object [0 \"3\"]")
        result (checker/check
                 (clew/independent {:model   :register
                                    :command (script (str "for f; do :; done; cp $f " (.getAbsolutePath ^File seen))
                                                     (str "cat <<'END'\n" answer "\nEND")
                                                     "exit 1")})
                 nil h {})]
    (is (= [false ["two"]] ((juxt :valid? :failures) result)))
    (is (= {1 true, "two" false, regex :unknown} (update-vals* :valid? (:results result))))
    (is (= (assoc (h 9) :value 1) (get-in result [:results "two" :op])))
    (is (= 10 (count (get-in result [:results "two" :configs]))))
    (is (= "{:index 4, :process 10, :type :invoke, :f :write, :value [\"two\" 1]}"
           (nth (str/split-lines (slurp seen)) 4)))))

(defn check-keys [options test h]
  (checker/check (clew/independent options) test h {}))

(deftest keys-that-look-alike-are-not-alike
  (let [ks     [#"a" #"a" "a" (tagged-literal 'x 1) (tagged-literal 'x 1N) :a 'a]
        h      (apply interleaved (map #(of-key %1 (if %2 good bad)) ks (cycle [true false])))
        result (check-keys {:model :register} nil h)]
    (is (= (zipmap ks (cycle [true false])) (update-vals* :valid? (:results result))))
    (is (= (take-nth 2 (rest ks)) (filter (set (:failures result)) ks)))))

(deftest operations-without-a-key
  (is (= {:valid? true, :results {}, :failures []} (dissoc (check-keys {:model :register} nil []) :clew)))
  (testing "are an error if all are"
    (is (= :command-failed (:error (check-keys {:model :register} nil (history [0 :write [1 2]]))))))
  (testing "have that of their invocation"
    (let [test   (named "completion")
          h      (-> (interleaved (of-key 1 bad) (of-key 2 bad)
                                  [{:process 0, :type :invoke, :f :write, :value (independent/tuple 1 3)}
                                   {:process 0, :type :info, :f :write, :value [2 3]}])
                     (update-in [5 :value] val))
          result (check-keys {:model :register, :keep true} test h)]
      (is (= [1 2] (:failures result)))
      (is (= [5 1] ((juxt :index :value) (get-in result [:results 1 :op]))))
      (is (= [8 6] (for [k [1 2]]
                     (count (str/split-lines (slurp (stored test "independent" k "linearizable-history-register.edn")))))))))
  (testing "count for every key"
    (let [cas    (history [5 :cas [1 2]])
          result (check-keys {:model :cas-register, :keep true} (named "every key")
                             (interleaved (of-key 1 (history [0 :write 1])) (of-key 2 (history [0 :write 2])) cas))]
      (is (= {1 true, 2 false} (update-vals* :valid? (:results result))))
      (is (= [1 2] (get-in result [:results 2 :op :value])))
      (is (= 4 (count (str/split-lines (slurp (stored (named "every key") "independent" 2 "linearizable-history-cas-register.edn")))))))))

(deftest a-key-without-a-result-is-unknown
  (let [h      (interleaved (of-key 1 good) (of-key 2 good))
        answer #(checker/check (clew/independent {:command (script (str "echo '" (pr-str %) "'"))}) nil h {})
        fine   {:valid? true, :configs [], :final-paths []}]
    (is (= true (:valid? (answer {:valid? true, :results {1 fine, 2 fine}}))))
    (is (= :unparsable-output (:error (answer {:valid? true, :results {1 fine}}))))
    (is (= :unparsable-output (:error (answer {:valid? true, :results {1 fine, 2 {}}}))))
    (is (= :unparsable-output (:error (answer {:valid? true}))))))

(deftest clew-checks-many-keys-at-once
  (let [test    (named "keys")
        options {:model (model/register)}
        h       (interleaved (of-key 1 good) (of-key 2 bad) (of-key 3 good))
        one     (checker/check (clew/independent options) test (in-jepsen h) {})
        many    (checker/check (independent/checker (clew/linearizable options)) (named "keys, one by one") (in-jepsen h) {})
        shape   (fn [r] (-> (select-keys r [:valid? :failures :results])
                            (update :results (fn [rs] (update-vals* #(select-keys % [:valid? :op :previous-ok]) rs)))))]
    (is (= (shape many) (shape one)))
    (is (= [2] (:failures one)))
    (is (.exists ^File (stored test "independent" 2 "clew-register.svg")))
    (is (.exists ^File (stored test "independent" 2 "linear.svg")))))

;; README

(defn blocks
  "The Clojure code in a README, block by block."
  [readme]
  (map second (re-seq #"(?s)```clojure\n(.*?)```" (slurp readme))))

(deftest the-readmes-code-runs
  (doseq [readme ["README.md" "main/README.md"]
          :let [code (blocks (io/resource readme))]]
    (is (seq code) readme)
    (doseq [block code]
      (binding [*ns* (create-ns 'example.readme)]
        (refer-clojure)
        (load-string block))))
  (testing "and its test passes"
    (let [result ((resolve 'example.register-test/run))]
      (is (true? (get-in result [:results :valid?])) (pr-str (:results result)))
      (is (= 200 (get-in result [:results :stats :operations])))
      (is (not-any? #(str/includes? % "history") (files result))))
    (is (= {:test 1, :pass 1, :fail 0, :error 0}
           (binding [clojure.test/*report-counters* (ref clojure.test/*initial-report-counters*)]
             (clojure.test/test-vars [(resolve 'example.register-test/the-register-is-linearizable)])
             @clojure.test/*report-counters*)))))

;; Speed

(defn by-turns
  "n operations of ten processes that take turns: (op i) is [f value], or [f value
  returned]."
  [n op]
  (into [] (mapcat (fn [i]
                     (let [[f value & [returned :as more]] (op i)
                           op {:process (mod i 10), :f f, :time (* 1000 i)}]
                       [(assoc op :index (* 2 i), :type :invoke, :value value)
                        (assoc op :index (inc (* 2 i)), :type :ok, :value (if more returned value))])))
        (range n)))

(defn timed
  "The result of (f), which is run a few times: the JVM has to warm up. What the
  fastest run took is printed, and not judged."
  [what f]
  (let [runs (vec (repeatedly 3 #(let [start (System/nanoTime)]
                                   [(f) (quot (- (System/nanoTime) start) 1000000)])))]
    (println (format "%-45s %5d ms" what (apply min (map second runs))))
    (first (peek runs))))

(deftest long-histories
  (let [n 200000]
    (doseq [[what model op]
            [["of a register" (model/register) #(if (even? %) [:write %] [:read nil (dec %)])]
             ["of a cas-register" (model/cas-register 0) #(if (even? %) [:cas [(rem % 7) (rem (+ 2 %) 7)]] [:read nil (rem (inc %) 7)])]
             ["of transactions" (model/multi-register {}) #(let [k (rem (quot % 2) 3)]
                                                             (if (even? %)
                                                               [:txn [[:write k %]]]
                                                               [:txn [[:read k nil]] [[:read k (dec %)]]]))]
             ["of strings" (model/register "") #(if (even? %) [:write (str "wert " %)] [:read nil (str "wert " (dec %))])]]]
      (let [h      (by-turns n op)
            result (timed (str n " operations " what) #(check {:model model} (named (str "long " what)) h))]
        (is (true? (:valid? result)) (pr-str (dissoc result :configs)))
        (is (= n (get-in result [:stats :operations])))))
    (let [h      (by-turns 20000 #(if (even? %) [:cas [(rem % 7) (rem (+ 2 %) 7)]] [:read nil (rem (inc %) 7)]))
          result (timed "20000 operations of a cas-register" #(check {:model (model/cas-register 0)} (named "short") h))]
      (is (true? (:valid? result))))))

(deftest many-keys
  (let [n      50000
        ; A process has ten keys, and its operation i is of key i / 10 modulo 100.
        h      (by-turns n #(let [k (rem (quot % 10) 100)
                                  v (quot % 1000)]
                              (if (even? %)
                                [:write (independent/tuple k v)]
                                [:read (independent/tuple k nil) (independent/tuple k v)])))
        result (timed (str n " operations in 100 keys") #(checker/check (clew/independent {:model (model/register)}) (named "many") h {}))]
    (is (true? (:valid? result)) (pr-str (dissoc result :results)))
    (is (= (zipmap (range 100) (repeat (quot n 100))) (update-vals* (comp :operations :stats) (:results result))))))
