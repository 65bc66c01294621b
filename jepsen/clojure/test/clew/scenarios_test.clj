(ns clew.scenarios-test
  "Whole tests, run by jepsen.core/run!: of Jepsen itself with JEPSEN_CLASSPATH (then
  Knossos has to agree), and else of the stand-ins beside this folder. Their database is
  in memory, and breaks where its test says so."
  (:require [clew.checker :as clew]
            [clew.checker-test :refer [eventually file killed-with-its-jvm never pids refusal running? script stored update-vals*]]
            [clew.watch :as watch]
            [clojure.edn :as edn]
            [clojure.java.io :as io]
            [clojure.java.shell :refer [sh]]
            [clojure.test :refer [deftest is testing]]
            [clojure.tools.logging :as log]
            [clojure.tools.logging.impl :as log-impl]
            [jepsen.checker :as checker]
            [jepsen.client :as client]
            [jepsen.core :as jepsen]
            [jepsen.generator :as gen]
            [jepsen.independent :as independent]
            [jepsen.nemesis :as nemesis]
            [jepsen.tests :as tests]
            [knossos.model :as model])
  (:import (java.io File)
           (java.util.concurrent CyclicBarrier)))

;; The database

(defrecord Client [invoke]
  client/Client
  (open! [this _ _] this)
  (setup! [_ _])
  (invoke! [_ _ op] (invoke op))
  (teardown! [_ _])
  (close! [_ _]))

(defn register
  "Registers by key. An op may have its own :fault: a read that is :stale returns
  the value before the last write, and a cas that is :lost says ok; a write or cas that
  is :applied or :dropped crashes after or before it takes effect, one that is :thrown
  throws."
  [init]
  (let [state (atom {})]
    (fn invoke [{:keys [f value fault] :as op}]
      (if (instance? clojure.lang.MapEntry value)
        (let [k (key value)]
          (-> (invoke (assoc op :value (val value), ::key k))
              (dissoc ::key)
              (update :value (partial independent/tuple k))))
        (let [at     [(::key op)]
              step   (fn [{:keys [now] :as r :or {now init}}]
                       (case f
                         :read  r
                         :write {:now value, :before now}
                         :cas   (if (= now (first value))
                                  {:now (second value), :before now}
                                  r)))
              change #(first (swap-vals! state update-in at step))]
          (case fault
            :dropped (assoc op :type :info, :error "dropped")
            :thrown  (throw (ex-info "no answer" {}))
            :applied (do (change) (assoc op :type :info, :error :timeout))
            :lost    (assoc op :type :ok)
            (let [{:keys [now before] :or {now init}} (get-in (change) at)]
              (case f
                :read  (assoc op :type :ok, :value (if (= :stale fault) before now))
                :write (assoc op :type :ok)
                :cas   (assoc op :type (if (= now (first value)) :ok :fail))))))))))

(defn queue
  "A queue whose :drain hands out all that is left, the first of it twice if
  it is :repeated."
  []
  (let [state (atom [])]
    (fn [{:keys [f value fault] :as op}]
      (case f
        :enqueue (do (swap! state conj value)
                     (assoc op :type :ok))
        :dequeue (let [[before _] (swap-vals! state #(vec (rest %)))]
                   (if (seq before)
                     (assoc op :type :ok, :value (first before))
                     (assoc op :type :fail, :error :empty)))
        :drain   (let [[before _] (reset-vals! state [])]
                   (assoc op :type :ok, :value (if (= :repeated fault)
                                                 (into (subvec before 0 1) before)
                                                 before)))))))

;; The tests

(defn one-of [& fs] (fn [_ _] ((rand-nth fs))))

(defn r [] {:type :invoke, :f :read, :value nil})
(defn w [] {:type :invoke, :f :write, :value (rand-int 5)})
(defn cas [] {:type :invoke, :f :cas, :value [(rand-int 5) (rand-int 5)]})

(defn op [f value & [fault]]
  (cond-> {:type :invoke, :f f, :value value}
    fault (assoc :fault fault)))

(defn then
  "200 operations of a kind, then these one after another."
  [gen & ops]
  (apply gen/phases (cons (gen/clients (gen/limit 200 gen)) (map gen/clients ops))))

(defn run
  "Runs a test, and returns it."
  [name invoke generator checker & {:as more}]
  (jepsen/run! (merge tests/noop-test
                      {:name name, :ssh {:dummy? true}, :concurrency 5, :client (->Client invoke)
                       :generator generator, :checker checker}
                      more)))

(def knossos
  "Knossos's checker, in Jepsen itself."
  (resolve 'jepsen.checker/linearizable))

(defn checks
  "A checker by clew, and by Knossos if it is there."
  [options]
  (checker/compose (cond-> {:clew (clew/linearizable options)}
                     knossos (assoc :knossos (@knossos (assoc options :algorithm :wgl))))))

(defn agreed
  "Clew's result, once it is Knossos's."
  [{:keys [results]}]
  (when knossos
    (is (= (select-keys (:knossos results) [:valid? :op :previous-ok])
           (select-keys (:clew results) (keys (select-keys (:knossos results) [:valid? :op :previous-ok]))))))
  (:clew results))

(deftest a-register-that-is-well
  (let [test   (run "well" (register 0) (then (one-of r w cas)) (checks {:model (model/cas-register 0)}))
        result (agreed test)]
    (is (true? (:valid? result)) (pr-str result))
    (is (= 0 (get-in result [:stats :skipped])))
    (is (not (.exists ^File (stored test "clew-cas-register.svg"))))))

(deftest a-stale-read
  (let [test   (run "stale" (register 0) (then (one-of r w cas) (op :write 10) (op :write 11) (op :read nil :stale))
                    (checks {:model (model/cas-register 0)}))
        result (agreed test)]
    (is (false? (:valid? result)) (pr-str result))
    (is (= [:read 10 :stale] ((juxt :f :value :fault) (:op result))) "an op has all of its keys")
    (is (= (into {} (last (filter (comp #{(:index (:op result))} :index) (:history test)))) (:op result)))
    (is (= [:write 11] ((juxt :f :value) (:previous-ok result))))
    (is (.exists ^File (stored test "clew-cas-register.svg")))
    (is (.exists ^File (stored test "linear.svg")))))

(deftest a-lost-cas
  (let [result (agreed (run "lost cas" (register 0) (then (one-of r w cas) (op :write 10) (op :cas [10 11] :lost) (op :read nil))
                            (checks {:model (model/cas-register 0)})))]
    (is (false? (:valid? result)) (pr-str result))
    (is (= [:read 10] ((juxt :f :value) (:op result))))))

(deftest crashes-go-on-as-other-processes
  (let [faulty (fn [f] #(cond-> (f)
                          (zero? (rand-int 20)) (assoc :fault (rand-nth [:dropped :thrown :applied]))))
        ops    (one-of r (faulty w) (faulty cas))
        model  {:model (model/cas-register 0)}
        went   (fn [{:keys [history]}] (some #(<= 5 %) (filter integer? (map :process history))))
        once   (fn []
                 (let [test   (run "crashes" (register 0) (then ops (op :write 10 :applied)) (checks model))
                       result (agreed test)]
                   (is (true? (:valid? result)) (pr-str result))
                   (is (pos? (get-in result [:stats :crashed])))
                   (doseq [[process events] (group-by :process (:history test))]
                     (is (not-any? #(= :info (:type %)) (butlast events)) process))
                   test))]
    ; By chance, nothing comes after the only crash.
    (is (some went (repeatedly 20 once)))
    (let [result (agreed (run "crashes, and a stale read" (register 0)
                              (then ops (op :write 10) (op :write 11) (op :write 12 :applied) (op :read nil) (op :read nil :stale))
                              (checks model)))]
      (is (false? (:valid? result)) (pr-str result))
      (is (= [:read 11 :stale] ((juxt :f :value :fault) (:op result)))))))

(defrecord Nemesis []
  nemesis/Nemesis
  (setup! [this _] this)
  (invoke! [_ _ op] (Thread/sleep 2) (assoc op :value [:cut "n1" {:grudge #{"n2"}}]))
  (teardown! [_ _]))

(deftest a-nemesis-is-no-client
  (let [test   (run "nemesis" (register 0)
                    (gen/nemesis (gen/limit 10 (fn [_ _] {:type :info, :f (rand-nth [:write :start :stop]), :value 7}))
                                 (then (one-of r w cas) (op :write 10) (op :read nil)))
                    (checks {:model (model/cas-register 0)})
                    :nemesis (->Nemesis))
        result (agreed test)]
    (is (true? (:valid? result)) (pr-str result))
    (is (some (comp #{:nemesis} :process) (:history test)))
    (is (= 202 (get-in result [:stats :operations])))))

(deftest keys-of-four-kinds
  (doseq [[kind ks] {"numbers" [1 2 3N], "strings" ["a" "b/c" "a b"], "keywords" [:a :b/c :x], "vectors" [[1 2] [1 3] [2 :a]]}
          broken? [false true]]
    (testing kind
      (let [of-key  (fn [f] #(update (f) :value (partial independent/tuple (rand-nth ks))))
            tuple   (fn [[f value & more]] (apply op f (independent/tuple (first ks) value) more))
            options {:model (model/cas-register 0)}
            test    (run (str "keys " kind " " broken?) (register 0)
                         (apply then (one-of (of-key r) (of-key w) (of-key cas))
                                (map tuple [[:write 10] [:write 11] (if broken? [:read nil :stale] [:read nil])]))
                         (checker/compose (cond-> {:clew (clew/independent options)
                                                   :each (independent/checker (clew/linearizable options))}
                                            knossos (assoc :knossos (independent/checker (@knossos options))))))
            shape   (fn [r] (-> (select-keys r [:valid? :failures :results])
                                (update :failures vec)
                                (update :results (partial update-vals* #(select-keys % [:valid? :op])))))
            {:keys [clew each knossos]} (:results test)]
        (is (= (if broken? [false [(first ks)]] [true []]) ((juxt :valid? :failures) clew)) (pr-str clew))
        (is (= (set ks) (set (keys (:results clew)))))
        (is (= (shape each) (shape clew)))
        (when knossos
          (is (= (update-vals* :valid? (:results knossos)) (update-vals* :valid? (:results clew)))))
        (when broken?
          (is (= 10 (get-in clew [:results (first ks) :op :value])) "without its key")
          (is (.exists ^File (stored test "independent" (first ks) "clew-cas-register.svg"))))))))

(deftest a-queue-that-is-drained
  (doseq [fault [nil :repeated]
          model [:fifo-queue :unordered-queue]]
    (let [n      (atom 0)
          result (:results (run "drain" (queue)
                                (then (one-of #(op :enqueue (swap! n inc)) #(op :dequeue nil)) (op :enqueue "last") (op :drain nil fault))
                                (clew/linearizable {:model model})))]
      (is (= (nil? fault) (:valid? result)) (pr-str model result)))))

(defrecord Point [x y])

(deftest values-that-are-records
  (let [point  #(->Point (rand-int 3) "y")
        result (agreed (run "records" (register (->Point 0 "y"))
                            (then (one-of r #(op :write (point)) #(op :cas [(point) (point)])) (op :write {:x 9, :y 9}) (op :cas [(->Point 9 9) 1]) (op :read nil))
                            (checks {:model (model/cas-register (->Point 0 "y"))})))]
    (is (true? (:valid? result)) (pr-str result)))
  (let [test   (run "a record is no map" (register nil) (then (one-of r) (op :write (->Point 9 9)) (op :write {:x 9, :y 9}) (op :read nil :stale))
                    (checks {:model (model/cas-register)}))
        result (agreed test)]
    (is (false? (:valid? result)) (pr-str result))
    (is (= (->Point 9 9) (:value (:op result))))))

;; While it runs

(defn slowly
  "A client that takes its time, so that there is some to be stopped in."
  [invoke]
  (fn [op]
    (Thread/sleep 1)
    (invoke op)))

(defn after
  "Operations by a function: from the n-th on, by another one."
  [n before later]
  (let [i (atom 0)]
    (fn [_ _]
      (if (< (swap! i inc) n)
        (before)
        (later)))))

(defn watching
  "Runs a test of up to n operations, the first of which that is wrong being the
  200th, and returns it and the processes that have watched it."
  [name n options before wrong]
  (let [f    (file ".pids")
        test (run name (slowly (register 0))
                  (watch/watch (assoc options :command (script (str "[ $1 = serve ] || echo $$ >> " (.getAbsolutePath ^File f)) "exec clew \"$@\""))
                               (gen/clients (gen/limit n (after 200 before wrong))))
                  (if (:independent options)
                    (clew/independent (dissoc options :abort? :independent))
                    (clew/linearizable (dissoc options :abort?))))]
    (is (eventually #(every? (complement running?) (pids f 1))))
    test))

(defn logged
  "What clew logs while f runs: a message and a throwable each."
  [f]
  (let [lines  (atom [])
        logger (reify log-impl/Logger
                 (enabled? [_ _] true)
                 (write! [_ _ throwable message] (swap! lines conj [(str message) throwable])))]
    (with-redefs [log/*logger-factory* (reify log-impl/LoggerFactory
                                         (name [_] "test")
                                         (get-logger [_ _] logger))]
      (f))
    (filter #(re-find #"^clew" (first %)) @lines)))

(defn checked
  "What `clew check` says of the folder of a test. The stand-in writes no history.edn."
  [test & flags]
  (let [folder (.getParentFile ^File (stored test "clew.jsonl"))]
    (edn/read-string {:default (fn [_ x] x)}
                     (:out (apply sh "clew" "check" "--output" "edn" (concat flags [(str folder)]))))))

(deftest every-event-is-on-disk
  (let [wrong #(op :cas [7 8] :lost)
        model {:model (model/cas-register 0)}
        test  (watching "recorded" 400 model #((rand-nth [r w cas])) wrong)
        {:keys [valid? stats] :as result} (checked test "--model" "cas-register" "--init" "0")]
    (is (false? valid?))
    (is (= (count (:history test)) (:events stats)) (pr-str result))
    (is (= (select-keys (:op (:results test)) [:index :process :f :value]) (select-keys (:op result) [:index :process :f :value])))
    (testing "those of nemeses, too, and values of all kinds"
      (let [point (->Point 1 #{"a"})
            value #(rand-nth [point "a" :b 'c [1 2] '(1) #{1} {:a nil} 1.5 2N 1/2 nil #inst "2020" (keyword "a b") "\"\\\n\u0001é"])
            test  (run "all kinds" (register nil)
                       (watch/watch {:model :register, :nil-reads :exact}
                                    (gen/nemesis (gen/limit 10 (fn [_ _] {:type :info, :f :start, :value [:a "b"]}))
                                                 (then (one-of r #(op :write (value))))))
                       (clew/linearizable {:model :register, :nil-reads :exact})
                       :nemesis (->Nemesis))
            result (checked test "--model" "register" "--nil-reads" "exact")]
        (is (true? (:valid? (:results test))))
        (is (true? (:valid? result)) (pr-str result))
        (is (= (count (:history test)) (:events (:stats result))))))
    (testing "once, if two watches see it"
      (let [test   (run "two watches" (register 0)
                        (watch/watch model (watch/watch {:model :cas-register, :init 0} (then (one-of r w cas))))
                        (clew/linearizable model))
            result (checked test "--model" "cas-register" "--init" "0")]
        (is (true? (:valid? result)) (pr-str result))
        (is (= (count (:history test)) (:events (:stats result))))))))

(deftest a-violation-is-told-and-drawn-while-the-test-runs
  (let [model (model/cas-register 0)
        wrong #(op :cas [7 8] :lost)
        page  #(io/file (.getParentFile ^File (stored % "x")) "clew-watch.html")]
    (let [test  (atom nil)
          lines (logged #(reset! test (watching "told" 2000 {:model model} w wrong)))]
      (is (.exists ^File (page @test)))
      (is (= [nil] (for [[message throwable] lines
                         :when (re-find #"^clew: the history is not linearizable: .* \(index \d+\).*; .*store.*/clew-watch\.html shows it$" message)]
                     throwable))
          (pr-str lines)))
    (let [test   (atom nil)
          of-key #(update (%) :value (partial independent/tuple "k"))
          lines  (logged #(reset! test (watching "told of keys" 2000 {:model model, :independent true} (fn [] (of-key w)) (fn [] (of-key wrong)))))]
      (is (.exists ^File (page @test)))
      (is (= 1 (count (filter #(re-find #"^clew: the history of key \"k\" is not linearizable: .*; .*store" (first %)) lines))) (pr-str lines)))
    (testing "if there is one"
      (let [test  (atom nil)
            lines (logged #(reset! test (watching "nothing to tell" 400 {:model model} w w)))]
        (is (empty? lines))
        (is (not (.exists ^File (page @test))))))))

(deftest a-watch-looks-at-its-options
  (doseq [[options message]
          [[{:modle :register} "unknown option :modle; did you mean :model?"]
           [{:model :register, :abort true} "unknown option :abort; did you mean :abort??"]
           [{:model :register, :abort? "yes"} ":abort? must be true or false, not \"yes\""]
           [{:model :register, :idle "soon"} ":idle must be milliseconds such as 300000 or a string such as \"5m\", not \"soon\""]
           [{:model :semaphore} "semaphore needs :permits K, the number of its permits, at least 1"]
           [{} "clew.watch needs a :model: later operations might change what is inferred"]
           [{:model :register, :command ["true"]} "[\"true\"] does not answer as clew does: expected one result map from clew, found nothing"]]]
    (is (= message (refusal #(watch/watch options nil)))))
  (testing "in one line, if they are lazy"
    (doseq [[options message]
            [[{:modle :register} #"^clew does not watch this test: unknown option :modle; did you mean :model\?$"]
             [{:model :register, :command ["/no/such/clew"]} #"^clew does not watch this test: Cannot run program"]]]
      (let [lines (logged #(run "lazy" (register 0) (watch/watch (assoc options :lazy? true) (then (one-of w))) (clew/linearizable {:model :register})))]
        (is (= 1 (count lines)))
        (is (re-find message (ffirst lines)))
        (is (nil? (second (first lines))))))))

(defn scratches []
  (set (filter #(re-find #"^clew-watch" %) (.list (io/file (System/getProperty "java.io.tmpdir"))))))

(deftest a-test-ends-at-its-first-violation
  (let [invocations (fn [test] (count (filter (comp #{:invoke} :type) (:history test))))
        wrong       #(op :cas [7 8] :lost)
        model       {:model (model/cas-register 0)}]
    (testing "if it is to be aborted"
      (let [test (watching "abort" 100000 (assoc model :abort? true) w wrong)]
        (is (< 199 (invocations test) 100000))
        (is (false? (get-in test [:results :valid?])))
        (is (= [:cas [7 8]] ((juxt :f :value) (get-in test [:results :op])))))
      (let [of-key #(update (%) :value (partial independent/tuple "k"))
            test   (watching "abort keys" 100000 (assoc model :abort? true, :independent true) #(of-key w) #(of-key wrong))]
        (is (< 199 (invocations test) 100000))
        (is (= ["k"] (get-in test [:results :failures])))))
    (testing "and goes on otherwise"
      (let [test (watching "go on" 1000 model w wrong)]
        (is (= 1000 (invocations test)))
        (is (false? (get-in test [:results :valid?])))))
    (testing "if there is one"
      (let [test (watching "no reason" 1000 (assoc model :abort? true) w w)]
        (is (= 1000 (invocations test)))
        (is (true? (get-in test [:results :valid?])))))
    (testing "and not because clew has trouble"
      (doseq [options [{:command ["/no/such/clew"]} {:command (script "exit 254")} {:command (script "exit 1")} {:model nil} {:model model/noop}]]
        (let [test (run "trouble" (register 0) (watch/watch (merge model {:abort? true, :lazy? true} options) (then (one-of w))) (clew/linearizable model))]
          (is (= 200 (invocations test)))
          (is (true? (get-in test [:results :valid?]))))))
    (is (eventually #(empty? (scratches))))))

;; When it ends early

(deftest a-time-limit
  ; Transactions at once that a search tries every set of, as in checker-test.
  (let [clients 60
        barrier (CyclicBarrier. clients)
        n       (atom -1)
        txn     #(let [i (swap! n inc)]
                   (op :txn [[:w (mod i 5) i] [:w (mod (inc i) 5) i] [:w 5 0]]))
        invoke  (fn [o]
                  (when (= :w (ffirst (:value o)))
                    (.await barrier))
                  (assoc o :type :ok))
        start   (System/nanoTime)
        result  (:results (run "limit" invoke
                               (gen/phases (gen/clients (gen/limit clients (one-of txn)))
                                           (gen/clients (op :txn (for [k (range 6)] [:r k (mod k 5)]))))
                               (clew/linearizable {:model :multi-register, :time-limit 200})
                               :concurrency clients))]
    (is (= [:unknown :timeout nil] ((juxt :valid? :cause :error) result)) (pr-str (dissoc result :configs)))
    (println "a time limit of 200 ms, and the test:" (quot (- (System/nanoTime) start) 1000000) "ms")))

(deftest an-interrupt
  (let [f      (file ".pids")
        result (promise)
        asked  (clew/linearizable {:model :register, :lazy? true, :command (script (str "echo $$ > " (.getAbsolutePath ^File f)) "sleep 1000")})
        watch  (reify checker/Checker
                 (check [_ test history opts]
                   (doto (checker/check asked test history opts) (->> (deliver result)))))
        thread (Thread. #(try
                           (run "interrupt" (register 0) (then (one-of r w)) watch)
                           (catch Throwable _))) ; as a store may, which was interrupted
        _      (.start thread)
        [pid]  (pids f 1)]
    (.interrupt thread)
    (is (= [:unknown :command-failed :interrupted] ((juxt :valid? :error :cause) (deref result never nil))))
    (is (eventually #(not (running? pid))))
    (.join thread never)
    (is (not (.isAlive thread)))))

(defn wait-for-clew
  "A test whose check does not end: clew waits for a history in a FIFO. Its pid is
  in a file."
  [pid-file fifo]
  (run "kill" (register 0) (then (one-of r w))
       (clew/linearizable {:model :register, :lazy? true, :command (script (str "echo $$ > " pid-file) (str "exec clew check --stdin-is-lifeline " fifo))})))

(deftest kill-9
  (let [f    (file ".pid")
        fifo (.getAbsolutePath ^File (file ".fifo"))]
    (sh "mkfifo" fifo)
    (is (killed-with-its-jvm
          `(do (require '~'clew.scenarios-test)
               ((resolve '~'clew.scenarios-test/wait-for-clew) ~(.getAbsolutePath ^File f) ~fifo))
          f 0))))
