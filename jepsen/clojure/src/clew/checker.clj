(ns clew.checker
  "Linearizability checkers for Jepsen tests, which leave the work to clew:
  linearizable stands in for jepsen.checker/linearizable, and independent for
  jepsen.independent/checker around it.

  A check sends the client operations to a `clew serve --stdio` that decides all
  checks of this JVM, and reads one EDN map. If that process ends before it has
  answered, or if clew is older than it, the check has a `clew check` of its own. A
  mistake in the options throws when a checker is made, but a check never throws. If
  anything goes wrong, the result has :valid? :unknown and an :error:

    :cannot-run          clew did not start: it is missing, or the options, the
                         model or the folder make no sense
    :command-failed      clew ended with an exit status other than 0, 1 or 2, by a
                         signal, or because this thread was interrupted
    :timeout             clew did not end in time, and was killed
    :unparsable-output   clew printed something other than one result map
    :exit-code-mismatch  clew's exit status contradicts the verdict that it printed

  This file needs Clojure and Jepsen (0.1.12 or later) and nothing else; it may
  be copied into a project."
  (:require [clojure.edn :as edn]
            [clojure.java.io :as io]
            [clojure.string :as str]
            [clojure.tools.logging :refer [warn]]
            [jepsen.checker :as checker]
            [jepsen.store :as store])
  (:import (clojure.lang APersistentMap APersistentSet APersistentVector ASeq IRecord Keyword LazySeq Symbol)
           (java.io BufferedInputStream DataInputStream File FileOutputStream InputStream PushbackReader RandomAccessFile)
           (java.nio.file CopyOption FileAlreadyExistsException Files)
           (java.nio.file.attribute FileAttribute)
           (java.util HashMap HashSet List)
           (java.util.concurrent CompletableFuture ConcurrentHashMap LinkedBlockingQueue Semaphore TimeoutException TimeUnit)
           (java.util.concurrent.atomic AtomicLong)))

(def max-shown
  "How many :configs and :final-paths a result keeps, as in Jepsen."
  10)

(def max-drawn-keys
  "For how many failing keys independent leaves a picture."
  10)

(def max-answer-bytes
  "How many bytes clew may print; more than that is not an answer."
  (* 256 1024 1024))

(def ^:dynamic *grace-ms*
  "How long clew may run beyond its own :time-limit before it is killed: the limit
  does not include reading the history."
  30000)

;; Failures

(defn- fail!
  "Gives up with one of the errors above. It is caught in `total`."
  ([error message] (fail! error message {}))
  ([error message more]
   (throw (ex-info message (assoc more ::error error)))))

(defn- failure
  "The result for whatever was thrown."
  [^Throwable t]
  (let [data        (ex-data t)
        interrupted (or (instance? InterruptedException t)
                        (instance? java.nio.channels.ClosedByInterruptException t))]
    (when interrupted
      (.interrupt (Thread/currentThread)))
    (merge {:valid? :unknown, :configs [], :final-paths []}
           (cond
             (::error data) (assoc (dissoc data ::error) :error (::error data), :message (.getMessage t))
             interrupted    {:error :command-failed, :cause :interrupted, :message "interrupted while clew ran"}
             :else          {:error :cannot-run, :message (str t)}))))

(defn- total
  "What f returns, or else the result that says why there is none. Errors are
  caught too: Jepsen would drop the results of every other checker for them."
  [f]
  (try
    (f)
    (catch Throwable t
      (let [result (failure t)]
        (warn "clew gave no verdict:" (:error result) (:message result))
        result))))

;; Writing the history

(defn- encodable?
  "A lone surrogate would turn into a question mark, and equal another one."
  [^String s]
  (= s (String. (.getBytes s "UTF-8") "UTF-8")))

(defn- readable?
  "Whether a keyword or symbol reads back as itself: (keyword \"a b\") does not."
  [token]
  (try
    (= token (edn/read-string (str token)))
    (catch Exception _ false)))

(defn- plain-fn
  "A function that turns any value into plain EDN, such that two values are equal
  afterwards if and only if they were before. An object that EDN does not know becomes
  #clew/object [n text], with the same n for equal objects."
  []
  (let [objects (HashMap.)
        tokens  (HashMap.)]
    (letfn [(object [x]
              (when-not (.containsKey objects x)
                (let [text (try
                             (if (tagged-literal? x) (pr-str x) (str x))
                             (catch Throwable _ (str (class x))))
                      text (subs text 0 (min 80 (count text)))]
                  (.put objects x (tagged-literal 'clew/object
                                                  [(.size objects) (if (encodable? text) text "?")]))))
              (.get objects x))
            (token [x]
              (when-not (.containsKey tokens x)
                (.put tokens x (readable? x)))
              (if (.get tokens x) x (object x)))
            (entries [x]
              (persistent! (reduce (fn [m ^java.util.Map$Entry e]
                                     (assoc! m (plain (.getKey e)) (plain (.getValue e))))
                                   (transient {}) x)))
            (plain [x]
              (cond
                (or (nil? x) (boolean? x) (int? x)) x
                (string? x)         (if (encodable? x) x (object x))
                (or (keyword? x)
                    (symbol? x))    (token x)
                (instance? Float x) (double x)
                (or (integer? x) (ratio? x) (decimal? x)
                    (instance? Double x)) x
                (char? x)           (if (or (< 32 (int x) 127) (char-name-string x)) x (object x))
                (number? x)         (.longValue ^Number x) ; as Clojure compares it
                (record? x)         (tagged-literal (symbol (.getName (class x))) (entries x))
                ; They are equal in Java's sense, to which 1 is not 1N.
                (tagged-literal? x) (object x)
                (instance? java.util.Map x) (entries x)
                (instance? java.util.Set x) (into #{} (map plain) x)
                (vector? x)         (mapv plain x)
                (or (sequential? x)
                    (instance? List x))     (apply list (map plain x))
                ; Not inst?, which also holds for an Instant, and takes its time to deny.
                (or (instance? java.util.Date x)
                    (uuid? x))      x
                :else               (object x)))]
      plain)))

(defmacro ^:private printing
  "Runs body with printing in full, whatever a REPL has set."
  [& body]
  `(binding [*print-length* nil, *print-level* nil, *print-meta* false, *print-dup* false
             *print-readably* true, *print-namespace-maps* false]
     ~@body))

(defn- bare?
  "Whether a string prints as it is, between quotes."
  [^String s]
  (loop [i 0]
    (or (= i (.length s))
        (let [c (int (.charAt s i))]
          (and (< 31 c 127) (not (= 34 c)) (not (= 92 c))
               (recur (inc i)))))))

(defn- escaped!
  "Appends a string as print-method writes it, unless it has surrogates: those may
  be lone."
  [^StringBuilder to ^String s]
  (.append to \")
  (loop [i 0]
    (if (= i (.length s))
      (.append to \")
      (let [c (.charAt s i)]
        (when-not (Character/isSurrogate c)
          (if-let [escape (char-escape-string c)]
            (.append to ^String escape)
            (.append to c))
          (recur (inc i)))))))

(defn printer
  "A function (print! to x) that appends any value to a StringBuilder as EDN, such
  that what it has printed is equal if and only if the values are. What histories
  mostly hold is printed at once; if there is anything else in x, all of it is made
  plain first."
  []
  (let [plain   (plain-fn)
        in-full #(printing (pr-str (plain %)))
        tokens  (HashMap.)]
    (letfn [(token [x]
              (or (.get tokens x)
                  (let [text (in-full x)]
                    (.put tokens x text)
                    text)))
            (items! [^StringBuilder to ^String open ^Iterable xs ^String close]
              (.append to open)
              (let [each (.iterator xs)]
                (loop [between ""]
                  (cond
                    (not (.hasNext each)) (do (.append to close) true)
                    (common! (.append to ^String between) (.next each)) (recur " ")))))
            (entries! [^StringBuilder to ^Iterable m]
              (.append to "{")
              (let [each (.iterator m)]
                (loop [between ""]
                  (if-not (.hasNext each)
                    (do (.append to "}") true)
                    (let [^java.util.Map$Entry e (.next each)]
                      (when (and (common! (.append to ^String between) (.getKey e))
                                 (common! (.append to " ") (.getValue e)))
                        (recur ", ")))))))
            ; Classes first, not protocols or interfaces: these answer within nanoseconds.
            (common! [^StringBuilder to x]
              (cond
                (instance? Long x)                (do (.append to (.longValue ^Long x)) true)
                (nil? x)                          (do (.append to "nil") true)
                (or (instance? Keyword x)
                    (instance? Symbol x))         (do (.append to ^String (token x)) true)
                (instance? APersistentVector x)   (items! to "[" x "]")
                (instance? String x)              (if (bare? x)
                                                    (.append (.append (.append to \") ^String x) \")
                                                    (escaped! to x))
                (instance? Double x)              (when (Double/isFinite (.doubleValue ^Double x))
                                                    (.append to (.doubleValue ^Double x))
                                                    true)
                (instance? Boolean x)             (do (.append to (.booleanValue ^Boolean x)) true)
                (instance? APersistentMap x)      (entries! to x)
                (instance? APersistentSet x)      (items! to "#{" x "}")
                (or (instance? ASeq x)
                    (instance? LazySeq x))        (items! to "(" x ")")
                (instance? IRecord x)             (entries! (.append (.append to "#") (.getName (class x))) x)))]
      (fn print! [^StringBuilder to x]
        (let [n (.length to)]
          (when-not (common! to x)
            (.setLength to n)
            (.append to ^String (in-full x))))))))

(defn text
  "A value as EDN text."
  [print! x]
  (let [to (StringBuilder.)]
    (print! to x)
    (str to)))

(defn client? [op]
  (let [process (:process op)]
    (or (instance? Long process) (integer? process))))

(defn- numbered
  "A function (number position op): the op's :index if the client operations of
  the history have ascending ones, else its position."
  [history]
  (let [ascending (reduce (fn [^long before op]
                            (let [index (:index op)]
                              (cond
                                (not (client? op))                           before
                                (and (int? index) (< before (long index))) (long index)
                                :else                                        (reduced nil))))
                          -1 history)]
    (if ascending
      (fn [_ op] (long (:index op)))
      (fn [position _] position))))

(defn- print-op!
  "Appends an operation as a line, with the keys that clew reads; position is one more
  of these, or nil."
  [print! ^StringBuilder to number position op]
  (print! (.append to "{:index ")    number)
  (print! (.append to ", :process ") (:process op))
  (print! (.append to ", :type ")    (:type op))
  (print! (.append to ", :f ")       (:f op))
  (print! (.append to ", :value ")   (:value op))
  (when-some [k (:key op)]
    (print! (.append to ", :key ") k))
  (when-some [p (when position (get op position))]
    (print! (.append (.append to ", ") (str position " ")) p))
  (.append to "}\n"))

(defn- encode!
  "Encodes the client operations, one to a line, and hands them to (take! bytes) in
  pieces: not more than a piece of them is held as text."
  [take! history number print! position]
  (let [piece  65536
        to     (StringBuilder. (* 2 piece))
        flush! #(do (take! (.getBytes (str to) "UTF-8"))
                    (.setLength to 0))]
    (reduce (fn [n op]
              (when (client? op)
                (print-op! print! to (number n op) position op)
                (when (< piece (.length to))
                  (flush!)))
              (inc n))
            0 history)
    (flush!)))

;; The command line

(defn noop?
  "Whether a model is Knossos's noop, which allows everything: there is nothing
  to ask."
  [model]
  (and (record? model) (= "knossos.model.NoOp" (.getName (class model)))))

(def ^:private noop-result
  {:valid? true, :model {:tag 'knossos.model.NoOp, :value {}}, :configs [], :final-paths []})

(defn- own?
  "Whether a model is of Knossos's kind: its class implements knossos.model/Model."
  [model]
  (boolean (some #(= "knossos.model.Model" (.getName ^Class %)) (supers (class model)))))

(defn- model-flags
  "The model as flags: a Knossos model, known by its class, so that Knossos need
  not be on the class path, or else one that clew asks for its steps; a name; or a map
  with a :name, or the :file of a model of one's own, and more flags."
  [model]
  (let [init  (fn [name value] {:model name, :init value})
        items (fn [name items] (init name (vec items)))
        asked (fn [model] {:asked-model (.getName (class model))})]
    (cond
      (nil? model) {}
      (or (keyword? model) (symbol? model) (string? model)) {:model (name model)}
      (record? model)
      (case (.getName (class model))
        "knossos.model.Register"       (init "register" (:value model))
        "knossos.model.CASRegister"    (init "cas-register" (:value model))
        "knossos.model.MultiRegister"  (init "multi-register" (into {} model))
        "knossos.model.Set"            (init "set" (set (:s model)))
        "knossos.model.UnorderedQueue" (items "unordered-queue" (:pending model))
        "knossos.model.FIFOQueue"      (items "fifo-queue" (:pending model))
        "knossos.model.Mutex"          (if (:locked? model)
                                         (asked model) ; clew's starts free
                                         {:model "mutex"})
        (if (own? model)
          (asked model)
          (fail! :cannot-run (str "clew does not know the model " (.getName (class model))
                                  ", which does not implement knossos.model/Model"
                                  "; give the name of one that it knows, such as :cas-register (clew models lists them)"))))
      (own? model) (asked model)
      (and (map? model) (:file model)) (assoc (dissoc model :file) :model-file (str (:file model)))
      (and (map? model) (:name model)) (assoc (dissoc model :name) :model (:name model))
      :else (fail! :cannot-run (str "expected a Knossos model, a keyword, {:name .. :init ..} or {:file ..} as :model, found "
                                    (text (printer) model))))))

(defn position
  "The key of an operation that tells its position, if the options name one."
  [options]
  (some-> (:position (merge (model-flags (:model options)) options)) name keyword))

(defn asked?
  "Whether clew asks the JVM for the steps of a model."
  [model]
  (contains? (model-flags model) :asked-model))

(defn- flag
  "A keyword and its value as an argument, nil if the value is nil or false."
  [print! [k v]]
  (let [flag (str "--" (name k))]
    (cond
      (= :init k)                               (str flag "=" (text print! v))
      (not v)                                   nil
      (true? v)                                 flag
      (and (= :time-limit k) (number? v))       (str flag "=" (long v) "ms")
      (and (= :memory-limit k) (number? v))     (str flag "=" (long v) "B")
      (or (keyword? v) (symbol? v) (string? v)) (str flag "=" (name v))
      :else                                     (str flag "=" (text print! v)))))

(defn- command
  "What runs clew, as a vector of strings."
  [options]
  (let [command (or (:command options) ["clew"])]
    (mapv str (if (string? command) [command] command))))

(defn- flags
  "The flags of a check, as strings. Those that it relies on come last, where they
  win."
  [options ours print!]
  (-> []
      (into (keep (partial flag print!)) (merge (model-flags (:model options)) (dissoc options :command :keep :lazy? :model)))
      (conj "--output=edn")
      (into (keep (partial flag print!)) ours)))

(defn arguments
  "The command of a process that checks a file, as a vector of strings."
  [options ours path print!]
  (-> (command options)
      (conj "check")
      (into (flags options ours print!))
      (conj path)))

(def ^:private unit-ms
  {"ns" 1e-6, "us" 1e-3, "µs" 1e-3, "ms" 1, "s" 1e3, "m" 60e3, "h" 3600e3})

(defn- limit-ms
  "A :time-limit in milliseconds: a number is that many, as in Knossos, a string
  such as \"1m30s\" is in clew's form. nil if there is none, or clew refuses it."
  [limit]
  (cond
    (number? limit) (long limit)
    (string? limit) (let [parts (re-seq #"([0-9.]+)(ns|us|µs|ms|s|m|h)" limit)]
                      (when (and (seq parts) (= limit (apply str (map first parts))))
                        (try
                          (long (reduce + (for [[_ n unit] parts]
                                            (* (Double/parseDouble n) (unit-ms unit)))))
                          (catch NumberFormatException _ nil))))))

;; Running it

(defmacro ^:private on-java-9
  "The form, if the JVM is not older than the classes that it names."
  [form]
  (when (try (Class/forName "java.lang.ProcessHandle") (catch ClassNotFoundException _ nil))
    form))

(on-java-9
  (defn- kill-tree!
    "Kills a process, then its descendants: those it had, and those that they
    have begun since."
    [^java.lang.ProcessHandle handle]
    (let [descendants (vec (iterator-seq (.iterator (.descendants handle))))]
      (.destroyForcibly handle)
      (run! kill-tree! descendants))))

(defn kill!
  "Kills a process that is still running, with its descendants, and waits for it.
  It does not ask first: a child may ignore that, and clew has nothing to clean up."
  [^Process process]
  (when (.isAlive process)
    (on-java-9 (kill-tree! (.toHandle process)))
    (.destroyForcibly process)
    (.waitFor process 5 TimeUnit/SECONDS)))

(defn start!
  "Starts a process, or says what is missing."
  ^Process [^ProcessBuilder builder]
  (try
    (.start builder)
    (catch java.io.IOException e
      (fail! :cannot-run (str (.getMessage e) "; expected clew on the PATH of the control node"
                              ", or the command that runs it as :command, such as [\"/opt/clew\"]")))))

(defn- late!
  "Gives up on clew after its time."
  [limit]
  (fail! :timeout (str "clew was still running after " limit " ms and was killed")))

(defn- execute!
  "Runs a command, its outputs in files, and returns its exit status. It does not
  outlive this function, nor (as long as it minds its lifeline, the standard input
  that stays open until then) the JVM."
  [command ^File stdout ^File stderr limit]
  (let [process (start! (doto (ProcessBuilder. ^List command)
                          (.redirectOutput stdout)
                          (.redirectError stderr)))]
    (try
      (cond
        (nil? limit)                                          (.waitFor process)
        (.waitFor process (long limit) TimeUnit/MILLISECONDS) (.exitValue process)
        :else                                                 (late! limit))
      (finally
        (kill! process)
        (try
          (.close (.getOutputStream process))
          (catch java.io.IOException _))))))

(defn tail
  "The end of a file, which is where it says what went wrong."
  ([file] (str/trim (tail file 1000)))
  ([^File file most]
   (with-open [f (RandomAccessFile. file "r")]
     (let [n     (min (long most) (.length f))
           bytes (byte-array n)]
       (.seek f (- (.length f) n))
       (.readFully f bytes)
       (String. bytes "UTF-8")))))

;; One process for all checks: docs/stdio.md has the protocol

(defn- daemon! [^String name f]
  (doto (Thread. ^Runnable f name)
    (.setDaemon true)
    .start))

(defn- line!
  "The next line of a stream, or nil if it ends or is longer than clew's are."
  [^InputStream in]
  (let [line (StringBuilder.)]
    (loop []
      (let [c (.read in)]
        (cond
          (= 10 c)                                   (str line)
          (or (neg? c) (< 100000 (.length line))) nil
          :else (do (.append line (char c))
                    (recur)))))))

(defn- bytes!
  "The next n bytes of a stream."
  ^bytes [^DataInputStream in ^long n]
  (let [bytes (byte-array n)]
    (.readFully in bytes)
    bytes))

(defn- parse [digits] (Long/parseLong digits))

(defn- hear!
  "Gives clew's answers to the checks that wait for them, until there is something
  that is no answer. Then it lets all checks go on without one."
  [{:keys [^Process process hello ended ^ConcurrentHashMap waiting ^ConcurrentHashMap asked ^LinkedBlockingQueue queue]}]
  (try
    (with-open [in (DataInputStream. (BufferedInputStream. (.getInputStream process) 65536))]
      (let [[_ version at-once] (some->> (line! in) (re-matches #"\{\"clew\":\"(.*)\",\"at-once\":(\d{1,6})\}"))]
        (when version
          (deliver hello {:version version, :turns (Semaphore. (Integer/parseInt at-once) true)})
          (loop []
            (let [line (or (line! in) "")]
              (if-let [[_ id what list] (re-matches #"\{\"id\":(\d+),\"ask\":\{\"(steps|chain|print)\":([\[\]\d,]+)\}\}" line)]
                (do (when-let [questions (.get asked (parse id))]
                      (.offer ^LinkedBlockingQueue questions [what (edn/read-string list)]))
                    (recur))
                (when-let [[_ id status err out] (re-matches #"\{\"id\":(\d+),\"status\":(\d+),\"err\":(\d+),\"out\":(\d+)\}" line)]
                  (when (<= (+ (parse err) (parse out)) max-answer-bytes)
                    (let [err    (String. (bytes! in (parse err)) "UTF-8")
                          out    (bytes! in (parse out))
                          answer (.remove waiting (parse id))]
                      (when answer
                        (.complete ^CompletableFuture answer {:status (parse status), :err err, :out out}))
                      (recur))))))))))
    (catch java.io.IOException _)
    (finally
      (.waitFor process 1 TimeUnit/SECONDS) ; it may be about to say its status
      (kill! process)
      (reset! ended true)
      (deliver hello nil)
      (run! #(.complete ^CompletableFuture % nil) (.values waiting))
      (.clear queue)
      (.offer queue ::end))))

(defn- tell!
  "Writes what is in the queue, lists of byte arrays, until ::end."
  [{:keys [^Process process ^LinkedBlockingQueue queue]}]
  (with-open [out (.getOutputStream process)]
    (try
      (loop []
        (let [next (.take queue)]
          (when-not (= ::end next)
            (run! #(.write out ^bytes %) next)
            (when (.isEmpty queue)
              (.flush out))
            (recur))))
      (catch java.io.IOException _)))) ; clew has ended

(defn- begin!
  "A process that decides the checks of this JVM, which may not speak yet, or never
  if clew is too old."
  [command]
  (let [process  (start! (ProcessBuilder. ^List command))
        resident {:process process
                  :hello   (promise)   ; what it said first, nil if it does not speak
                  :ended   (atom false)
                  :ids     (AtomicLong.)
                  :waiting (ConcurrentHashMap.) ; by id, the future answer of a check
                  :asked   (ConcurrentHashMap.) ; by id, the queue of questions about its model
                  :queue   (LinkedBlockingQueue. 64)}]
    (daemon! "clew's answers" #(hear! resident))
    (daemon! "clew's requests" #(try (tell! resident) (catch java.io.IOException _)))
    ; What it says on standard error is not about a check.
    (daemon! "clew's complaints" #(try
                                    (let [in (.getErrorStream process), some (byte-array 1000)]
                                      (while (not (neg? (.read in some)))))
                                    (catch java.io.IOException _)))
    resident))

(def ^:private residents
  "By command, the process that decides checks; or :none if it is a clew that decides
  each in a process of its own."
  (atom {}))

(defn- resident! [command]
  (locking residents
    (let [{:keys [ended] :as known} (get @residents command)]
      (if (or (= :none known) (and known (not @ended)))
        known
        (get (swap! residents assoc command (begin! command)) command)))))

(defn- speaking
  "The process for a command once it speaks, nil if it does not."
  [command limit]
  (let [{:keys [hello ^Process process] :as resident} (resident! command)]
    (when-not (= :none resident)
      (let [said (try
                   (if limit (deref hello limit ::late) @hello)
                   (catch InterruptedException e
                     (when-not (realized? hello)
                       (kill! process))
                     (throw e)))]
        (cond
          (= ::late said) (do (kill! process)
                              (late! limit))
          said            resident
          (= 254 (.exitValue process)) ; an unknown flag
          (do (swap! residents assoc command :none)
              nil))))))

(defn json
  "A string as JSON."
  [^String s]
  (str \" (str/replace s #"[\u0000-\u001f\"\\]" #(format "\\u%04x" (int (first %)))) \"))

(defn- send! [{:keys [^LinkedBlockingQueue queue ended]} parts]
  (loop []
    (when-not (or @ended (.offer queue parts 1 TimeUnit/SECONDS))
      (recur))))

(defn- abandon!
  "Cancels a check. If clew does not even answer that, it hangs, and is killed."
  [{:keys [^Process process ^ConcurrentHashMap waiting] :as resident} id ^CompletableFuture answer]
  (daemon! "clew's cancels" #(send! resident [(.getBytes (str "{\"id\":" id ",\"cancel\":true}\n"))]))
  (daemon! "clew's last moments" #(try
                                    (.get answer 5 TimeUnit/SECONDS)
                                    (catch TimeoutException _
                                      (kill! process))
                                    (finally
                                      (.remove waiting id)))))

(defn- telling-of!
  "Answers questions about a model in a thread of its own: a step may take its time, or
  never end. Returns a function that ends it. A step that interrupts its own thread does
  not. If there is no answer, the check ends with what was thrown."
  [{:keys [^ConcurrentHashMap asked] :as resident} id line tell ^CompletableFuture answer]
  (let [questions (LinkedBlockingQueue.)
        _         (.put asked id questions)
        over      (atom false)
        ^Thread t (daemon! "clew's questions"
                           (bound-fn []
                             (while (not @over)
                               (try
                                 (send! resident [(line (str ",\"told\":[" (str/join "," (apply tell (.take questions))) "]"))])
                                 (catch InterruptedException _)
                                 (catch Throwable t
                                   (.completeExceptionally answer t))))))]
    (fn []
      (reset! over true)
      (.remove asked id)
      (.interrupt t))))

(defn- request!
  "Has clew decide a history: (encode take!) hands pieces of it to take!. tell, unless
  it is nil, answers clew's questions about the model. Returns
  {:status .., :out bytes, :err text}, or nil if the process ended before."
  [{:keys [hello ended ^AtomicLong ids ^ConcurrentHashMap waiting] :as resident} flags encode tell limit]
  (let [^Semaphore turns (:turns @hello)
        _      (if limit
                 (when-not (.tryAcquire turns (long limit) TimeUnit/MILLISECONDS)
                   (fail! :timeout (str "other checks kept clew busy for " limit " ms")))
                 (.acquire turns))
        id     (.incrementAndGet ids)
        line   #(.getBytes (str "{\"id\":" id % "}\n") "UTF-8")
        answer (CompletableFuture.)
        end!   (if tell (telling-of! resident id line tell answer) (fn []))
        begun  (volatile! false)]
    (try
      (.put waiting id answer)
      (send! resident [(line (str ",\"check\":[" (str/join "," (map json flags)) "]"))])
      (vreset! begun true)
      (encode (fn [^bytes piece]
                (send! resident [(line (str ",\"bytes\":" (alength piece))) piece])))
      (send! resident [(line ",\"end\":true")])
      (when @ended ; perhaps before the check waited
        (.complete answer nil))
      (if limit
        (.get answer (long limit) TimeUnit/MILLISECONDS)
        (.get answer))
      (catch TimeoutException _
        (late! limit))
      (finally
        (end!)
        (.release turns)
        (cond
          (and (.isDone answer) (not (.isCompletedExceptionally answer))) nil
          @begun (abandon! resident id answer)
          :else  (.remove waiting id)))))) ; clew does not know of it

;; Reading the answer

(defn- tagged
  "Records of classes that are not here, as plain data: Jepsen cannot store
  everything, and does not read unknown tags back."
  [tag value]
  {:tag tag, :value value})

(defn read-answer
  "The one EDN map in a file, or in bytes."
  [from]
  (let [garbage #(fail! :unparsable-output (str "expected one result map from clew, found " %))]
    (when (and (instance? File from) (< max-answer-bytes (.length ^File from)))
      (garbage (str (.length ^File from) " bytes")))
    (with-open [r (PushbackReader. (io/reader from :encoding "UTF-8"))]
      (let [end    (Object.)
            next   #(try
                      (edn/read {:eof end, :default tagged} r)
                      (catch Throwable t
                        (garbage (str "text that is not EDN: " (.getMessage t)))))
            answer (next)]
        (cond
          (identical? end answer)    (garbage "nothing")
          (not (map? answer))        (garbage "another form")
          (not (identical? end (next))) (garbage "more than one form")
          :else                      answer)))))

(defn- verdict!
  "The :valid? of a result map, which is one of three."
  [result]
  (let [valid? (when (map? result) (:valid? result))]
    (if (contains? #{true false :unknown} valid?)
      valid?
      (fail! :unparsable-output (str "clew's result has no :valid? of true, false or :unknown, but " (text (printer) valid?))))))

(defn- op? [x]
  (and (map? x) (int? (:index x)) (contains? x :process) (contains? x :f)))

(defn- object?
  "Whether something was an object that EDN does not know: see plain-fn."
  [x]
  (and (map? x) (= 'clew/object (:tag x))))

(defn- map-ops
  "Plain data with (f op) for every op map in it, vectors for sequences, and the
  text of objects."
  [f x]
  (cond
    (op? x)         (f x)
    (object? x)     (second (:value x))
    (map? x)        (into {} (map (fn [[k v]] [(map-ops f k) (map-ops f v)])) x)
    (set? x)        (into #{} (map (partial map-ops f)) x)
    (sequential? x) (mapv (partial map-ops f) x)
    :else           x))

(defn- originals
  "The history's own operations, with all their keys, by the numbers that are
  wanted. An invocation has the value that it returned, as in Knossos's results."
  [history number ^HashSet wanted]
  (let [found (HashMap.)
        open  (volatile! {})] ; by process, the number of a wanted invocation
    (when-not (.isEmpty wanted)
      (reduce (fn [position op]
                (when (client? op)
                  (let [n     (number position op)
                        begun (when (seq @open)
                                (get @open (:process op)))]
                    (when begun
                      (vswap! open dissoc (:process op))
                      (when (= :ok (:type op))
                        (.put found begun (assoc (.get found begun) :value (:value op)))))
                    (when (.contains wanted n)
                      (.put found n (assoc (into {} op) :index n))
                      (when (= :invoke (:type op))
                        (vswap! open assoc (:process op) n)))))
                (inc position))
              0 history))
    found))

(defn- cut
  "A result map of clew's with no more than anybody reads."
  [result]
  (verdict! result)
  (let [some-of #(vec (take max-shown %))]
    (-> result (update :configs some-of) (update :final-paths some-of))))

(defn- with-originals
  "Results with the history's own operations in place of what clew echoes."
  [results history number]
  (let [wanted (HashSet.)
        _      (map-ops (fn [op] (.add wanted (:index op)) op) results)
        own    (originals history number wanted)]
    (map-ops (fn [op]
               (let [mine (get own (:index op))]
                 (if (and mine (= (:type mine) (:type op)) (= (:process mine) (:process op)))
                   mine
                   op)))
             results)))

;; Models that clew asks for their steps

(def ^:private unasked-ns
  "For how long an answer goes on with steps that clew may need soon: about as long as
  a question takes."
  500000)

(def ^:private max-message
  "Characters of what a model says."
  1000)

(def ^:private max-state
  "Bytes of a state as it prints; a longer one prints as its class and number."
  65536)

(defn- by-number
  "The client operations of a history by their numbers."
  [history number]
  (let [ops (HashMap.)]
    (reduce (fn [position op]
              (when (client? op)
                (.put ops (number position op) op))
              (inc position))
            0 history)
    ops))

(defn- teller
  "For a model that clew asks for its steps, {:tell f, :shown atom}: (f what list) is
  the answer to a question, in pieces of JSON. States have numbers, and equal ones have
  the same; an operation is the number of an event with its :f and value. shown has the
  states that were printed, by what clew's results hold in their place. nil for other
  models."
  [model history number print!]
  (when (asked? model)
    (require 'knossos.model)
    (let [step          @(resolve 'knossos.model/step)
          inconsistent? @(resolve 'knossos.model/inconsistent?)
          ops           (delay (by-number history number))
          states        (java.util.ArrayList. [model])
          known         (volatile! {model 0}) ; equal as Clojure has it
          shown         (atom {})
          message       (fn [x]
                          (let [s (try
                                    (str x)
                                    (catch Throwable _ (str (class x))))]
                            (json (subs s 0 (min max-message (count s))))))
          state!        (fn [x]
                          (or (get @known x)
                              (let [n (.size states)]
                                (.add states x)
                                (vswap! known assoc x n)
                                n)))
          stepped       (fn [state op]
                          (try
                            (let [next (step (.get states state) (.get ^HashMap @ops op))]
                              (cond
                                (nil? next)          (throw (IllegalStateException. "its step returned nil"))
                                (inconsistent? next) (message (:msg next))
                                :else                (state! next)))
                            (catch Throwable t
                              (str "{\"error\":" (message t) "}"))))
          shown!        (fn [n]
                          (let [state  (.get states n)
                                shown! (fn [s]
                                         (swap! shown assoc (map-ops identity (edn/read-string {:default tagged} s)) state)
                                         (json s))
                                other  (pr-str (str (class state) " " n))]
                            (try
                              (let [s (text print! state)]
                                (shown! (if (< max-state (alength (.getBytes s "UTF-8"))) other s)))
                              (catch Throwable _ ; its own print is none, or overflows the stack
                                (shown! other)))))]
      {:shown shown
       :tell  (fn [what list]
                (let [from  (System/nanoTime)
                      late? #(< (if (= "chain" what) (* 20 unasked-ns) unasked-ns) (- (System/nanoTime) from))]
                  (case what
                    "print" (mapv shown! list)
                    "chain" (loop [state (first list), ops (second list), told []]
                              (if (or (empty? ops) (not (number? state)) (and (seq told) (late?)))
                                told
                                (let [next (stepped state (first ops))]
                                  (recur next (rest ops) (conj told next)))))
                    (reduce (fn [told [state op]]
                              (if (and (seq told) (late?))
                                (reduced told)
                                (conj told (stepped state op))))
                            [] (eduction (mapcat (fn [[state ops]] (map #(vector state %) ops))) list)))))})))

(defn- with-states
  "A result with the model's own states in place of what clew echoes."
  [result asked]
  (if-not asked
    result
    (let [shown @(:shown asked)
          own   #(cond-> % (contains? % :model) (update :model (fn [m] (get shown m m))))]
      (-> (own result)
          (update :configs (partial mapv own))
          (update :final-paths (partial mapv (partial mapv own)))))))

;; Checking

(def ^:private versions
  "By command, the version of clew, once it has been told."
  (atom {}))

(def ^:private claimed
  "The folders that checks write to, each with a label and a number: two checks of a
  test may run at once, and must not overwrite the other's history."
  (atom #{}))

(defn- claim! [folder label]
  (loop [n 1]
    (let [claim      [folder label n]
          [before _] (swap-vals! claimed conj claim)]
      (if (contains? before claim)
        (recur (inc n))
        claim))))

(defn- label
  "What the files of a check have in their names: its model, if that is given."
  [options]
  (let [{:keys [model model-file asked-model]} (merge (model-flags (:model options)) (select-keys options [:model-file]))
        name (or (some-> model name)
                 (some-> model-file io/file .getName (str/replace #"\.[^.]*$" ""))
                 (some-> asked-model (str/replace #"^.*\." "")))]
    (some-> name (str/replace #"[^A-Za-z0-9_.-]" "-"))))

(defn store-folder
  "The folder in Jepsen's store for what a check leaves, or nil: a test without a
  name has none."
  [test opts]
  (when (and (:name test) (:start-time test))
    (try
      (let [^File folder (.getParentFile (.getAbsoluteFile ^File (store/path! test (:subdirectory opts) "clew.svg")))]
        (if (and (.isDirectory folder) (.canWrite folder))
          folder
          (warn "clew's files were not kept: cannot write to" (str folder))))
      (catch Throwable t
        (warn t "clew's files were not kept")))))

(defn- delete! [^File file]
  (Files/deleteIfExists (.toPath file)))

(defn- text-of [^File file]
  (when (.isFile file)
    (slurp file)))

(defn- place!
  "Gives a picture the name that Knossos's has, unless there is one, and it is not
  the one that an earlier check has drawn. A link is never made in place of a file; it
  is one to a copy, which Knossos may overwrite."
  [^File svg ^File linear earlier]
  (when (and earlier (= earlier (text-of linear)))
    (delete! linear))
  (when (and (.isFile svg) (not (.exists linear)))
    (let [copy (io/file (str svg ".copy"))]
      (try
        (io/copy svg copy)
        (try
          (Files/createLink (.toPath linear) (.toPath copy))
          (catch UnsupportedOperationException _
            (Files/copy (.toPath svg) (.toPath linear) ^"[Ljava.nio.file.CopyOption;" (make-array CopyOption 0))))
        (catch FileAlreadyExistsException _) ; Knossos was faster
        (catch java.io.IOException e
          (warn "no linear.svg:" (str e)))
        (finally
          (delete! copy))))))

(defn delete-tree! [^File folder]
  (run! #(.delete ^File %) (reverse (file-seq folder))))

(defn places
  "The files of a check in a folder, named for its label. They have a number unless it
  is the first such check there."
  [[folder label n]]
  (let [named (fn [name ending]
                (io/file folder (str name (when label (str "-" label)) (when (< 1 n) (str "-" n)) ending)))]
    {:history (named "linearizable-history" ".edn")
     :stderr  (named "linearizable" ".log")
     :svg     (named "clew" ".svg")
     :html    (named "clew" ".html")
     :linear  (io/file folder "linear.svg")}))

(def ^:private max-log-bytes
  "How much of clew's standard error is kept."
  (* 1024 1024))

(defn- alone!
  "Decides a history in a process of its own; what it returns is (f answer), with
  an answer like request!'s. A clew that is too old to draw pages is run without."
  [options ours print! encode limit f]
  (let [scratch (.toFile (Files/createTempDirectory "clew-check" (make-array FileAttribute 0)))
        [history stdout stderr] (map #(io/file scratch %) ["history.edn" "answer.edn" "stderr"])
        run     #(execute! (arguments options (assoc % :stdin-is-lifeline true) (str history) print!) stdout stderr limit)]
    (try
      (with-open [out (FileOutputStream. ^File history)]
        (encode #(.write out ^bytes %)))
      (let [status (run ours)
            status (if (and (:html ours) (= 254 status) (str/includes? (tail stderr) "unknown flag --html"))
                     (run (dissoc ours :html))
                     status)]
        (f {:status status, :out stdout, :err (tail stderr max-log-bytes)}))
      (finally
        (delete-tree! scratch)))))

(defn- too-old [options]
  (str "expected `clew serve --stdio` to ask for the steps of " (.getName (class (:model options)))
       ", but it did not: this clew is too old to do that, or it crashed"))

(defn- decide!
  "Has clew decide a history, and returns (f answer). kept, unless nil, is a file for
  the history."
  [{:keys [options print! history number asked]} ours kept f]
  (let [limit    (some-> (limit-ms (:time-limit options)) (+ *grace-ms*))
        command  (command options)
        memory   (flag print! [:memory-limit (:memory-limit options)])
        encode   #(encode! % history number print! (position options))
        request  #(when-let [resident (speaking (cond-> (conj command "serve" "--stdio") memory (conj memory)) limit)]
                    (swap! versions assoc command (:version @(:hello resident)))
                    (request! resident (flags options ours print!) encode (:tell asked) limit))]
    (when kept
      (with-open [out (FileOutputStream. ^File kept)]
        (encode #(.write out ^bytes %))))
    (if-let [answer (or (request)
                        (when asked (request)))] ; it cannot go on in a process of its own
      (f answer)
      (if asked
        (fail! :cannot-run (too-old options))
        (alone! options ours print! encode limit f)))))

(defn- answer!
  "The map that clew has printed, if it agrees with its exit status."
  [{:keys [status out]}]
  (when-not (contains? #{0 1 2} status)
    (fail! :command-failed (str "clew ended with exit status " status)))
  (let [answer (read-answer out)
        valid? (verdict! answer)]
    (when (not= status ({true 0, false 1, :unknown 2} valid?))
      (fail! :exit-code-mismatch (str "clew printed :valid? " valid? " and ended with exit status " status)))
    answer))

(defn- understood
  "(f answer) for what clew has said. If that makes no sense, the error has the end of
  what it said on standard error."
  [{:keys [status err] :as said} f]
  (try
    (let [answer (answer! said)]
      (try
        (f answer)
        (catch Exception e
          (if (::error (ex-data e))
            (throw e)
            (fail! :unparsable-output (str "clew's result makes no sense: " e))))))
    (catch clojure.lang.ExceptionInfo e
      (let [err (str/trim (subs err (max 0 (- (count err) 1000))))]
        (fail! (::error (ex-data e))
               (cond-> (.getMessage e) (seq err) (str "; it said: " err))
               {:exit status})))))

(defn- ask
  "Has clew decide a history and returns (f answer). ours are the flags of this
  check; draw? has it draw a failure."
  [{:keys [options ours draw? test opts] :as check} f]
  (let [folder (store-folder test opts)
        claim  (when folder (claim! folder (label options)))]
    (try
      (let [{:keys [svg html linear stderr] :as places} (when folder (places claim))
            draw?   (and folder draw?)
            earlier (when draw? (text-of svg))
            kept    (when (:keep options) (:history places))]
        (decide! check (cond-> ours draw? (assoc :svg (str svg), :html (str html))) kept
                 (fn [said]
                   (when folder
                     (let [err (str/replace (:err said) #"(?m)^.*: nothing to write for --.*\R?" "")]
                       (if (str/blank? err)
                         (delete! stderr)
                         (spit stderr err :encoding "UTF-8"))))
                   (understood said
                               (fn [answer]
                                 (when draw?
                                   (if (false? (:valid? answer))
                                     (place! svg linear earlier)
                                     (run! #(.delete ^File %) [html svg]))) ; pages are of linearizations, too
                                 (f (if kept
                                      (assoc answer :file (str kept))
                                      (dissoc answer :file))))))))
      (finally
        (swap! claimed disj claim)))))

;; What a result says of its check

(defn- with-model
  "The options. If they name no model, they get that of the test, where old tests have
  it. Jepsen's noop stands there if a test has none."
  [options test]
  (let [model (when (map? test) (:model test))]
    (if (and (map? options) (nil? (:model options)) (nil? (:model-file options)) (record? model) (not (noop? model)))
      (assoc options :model model)
      options)))

(defn- version
  "The version of clew, nil if it does not tell."
  [options]
  (let [command (command options)]
    (or (get @versions command)
        (let [stdout (File/createTempFile "clew" ".version")
              stderr (File/createTempFile "clew" ".version")]
          (try
            (when (zero? (execute! (conj command "version") stdout stderr 5000))
              (when-let [[_ told] (re-find #"^clew (.{1,100})" (slurp stdout))]
                (swap! versions assoc command told)
                told))
            (finally
              (delete! stdout)
              (delete! stderr)))))))

(def ^:private not-of-models
  "Options that say how to search."
  [:command :keep :lazy? :algorithm :depth :time-limit :memory-limit :verify :no-verify])

(defn- plain
  "A value as it reads back from EDN. It throws if there are tags in it: clew would take
  them for something else."
  [print! x]
  (edn/read-string {:default #(fail! :cannot-run (str "expected plain data, found " %1 " " %2))}
                   (text print! x)))

(defn- settings
  "What clew was told of the model: plain data, by which `clew check` decides the
  stored history as it was decided here. Ours are the flags of this check."
  [options ours]
  (let [print! (printer)
        given  (merge {:semantics :jepsen, :independent false}
                      (model-flags (:model options)) (apply dissoc options :model not-of-models) ours)]
    (try
      (into {} (keep (fn [[k v]]
                       (cond
                         (= :init k)                   [k (plain print! v)]
                         (and (= :model k) (some? v))  [k (keyword (name v))]
                         (some? v)                     [k (plain print! v)])))
            given)
      (catch Exception _ ; a value that no flag can hold
        (select-keys given [:semantics :independent])))))

(defn- telling
  "A result that tells how clew was asked, in :clew."
  [result options ours]
  (try
    (let [settings (settings options ours)
          version  (when-not (:error result)
                     (version options))]
      (assoc result :clew (cond-> settings version (assoc :version version))))
    (catch InterruptedException _
      (.interrupt (Thread/currentThread))
      result)
    (catch Exception _ ; options that make no sense
      result)))

;; What may be asked

(def ^:private kinds
  "What values options have: how that is said, and what tells it."
  {:anything ["anything" any?]
   :switch   ["true or false" boolean?]
   :word     ["a keyword or a string" #(or (keyword? %) (symbol? %) (string? %))]
   :file     ["the name of a file" #(and (string? %) (seq %))]
   :evidence ["the name of a file" #(and (string? %) (seq %))]
   :count    ["a number of at least 1" #(or (and (int? %) (pos? (long %)))
                                            (and (string? %) (re-matches #"0*[1-9]\d*" %)))]
   :time     ["milliseconds such as 300000 or a string such as \"5m\"" #(some-> (limit-ms %) pos?)]
   :size     ["a string such as \"8GB\" or a number of bytes"
              #(if (string? %)
                 (re-matches #"(?i)\d+(\.\d+)?([kmgt]i?b?|i?b)" %)
                 (and (int? %) (pos? (long %))))]
   :command  ["a vector of strings such as [\"clew\"]"
              #(or (and (string? %) (seq %))
                   (and (sequential? %) (seq %) (every? string? %) (not= "check" (last %))))]})

(def options-of-checks
  "By name, the kind of what a check may be asked: options of this file, then flags of
  `clew check`. clew itself checks the words."
  (into {:model :anything, :command :command, :keep :switch, :lazy? :switch}
        (for [[kind names] {:anything [:init]
                            :word     [:consistency :nil-reads :failed-cas :priority :ids :negative-balances :answers :kv-keys :accounts :position :positions
                                       :keyless :semantics :algorithm :html-style]
                            :file     [:model-file]
                            :evidence [:witness :core :html-dir :certificate :evidence]
                            :count    [:permits :max-holds :threads :depth]
                            :switch   [:how-far :independent :verify :no-verify :strict :fail-fast]
                            :time     [:time-limit]
                            :size     [:memory-limit]}
              name names]
          [name kind])))

(def ^:private elsewhere
  "Options of other checkers, and other names for those of this one: what is meant, or
  what to do instead."
  (into {:clock-error "it is for interval records, which Jepsen's histories are not"
         :all         "a result is about the first failure; clew check --all of the stored test prints every anomaly"
         :empty       "the checker hands the history over, and an empty one has nothing to check"
         :follow      "clew.watch follows a test while it runs"
         :idle        "it is an option of clew.watch"
         :abort?      "it is an option of clew.watch"
         :clients     "a check has the operations of processes that are integers, as in Jepsen; clew check has --clients"
         :quiet       "the checker reads what clew prints"
         :output      "the checker reads what clew prints"
         :unknown     "it is about clew's exit status; a result has :valid? :unknown"
         :svg         "the checker draws failures into the test's folder"
         :html        "the checker draws failures into the test's folder"
         :help        "clew check --help prints what its flags mean"
         :models      "a checker has one :model"
         :shard       "it is for clew check of a store"
         :shard-keys  "it is for clew check of a store"
         :stdin-is-lifeline "the checker sets it"
         :max-configs "results have up to ten configurations, as in Jepsen"
         :linearizable? "it is an option of jepsen.checker/set-full; {:model :set} checks linearizability"
         :subdirectory "jepsen.independent sets it"
         :history-key "jepsen.independent sets it"
         :history     "Jepsen gives it to the checker"}
        (for [[names instead]
              {[:timeout :deadline :max-time]                     :time-limit
               [:max-memory :heap :xmx]                           :memory-limit
               [:binary :executable :bin :path :clew :program :cmd] :command
               [:initial :value :state :start]                    :init
               [:engine :solver :analyzer :search :method]        :algorithm
               [:spec :type :datatype :object]                    :model
               [:save :store?]                                    :keep
               [:delay]                                           :lazy?
               [:capacity :slots]                                 :permits
               [:keys :per-key :keyed]                            :independent
               [:isolation]                                       :consistency
               [:consistency-models :consistency-model]
               "it is an option of clew.checker/transactions"
               [:anomalies :prohibited-anomalies]
               "it is one of Elle's; :consistency names a level"
               [:directory :plot-format :plot-timeout :max-plot-bytes :cycle-search-timeout :linearizable-keys? :sequential-keys? :wfr-keys?
                :additional-graphs :graph-analyzers :min-txn-length :max-txn-length :max-writes-per-key :key-count :key-dist]
               "it is one of Elle's"
               [:name :nodes :concurrency :generator :client :nemesis :db :os :ssh :start-time :checker :net :logging :rate]
               "it belongs in the map of the test"
               [:nemeses :bandwidth :graph?]
               "it is an option of jepsen.checker/perf"
               [:accounts :total-amount :max-transfer]
               "it belongs in the map of the test, for jepsen.tests.bank"}
              name names]
          [name instead])))

(defn- edits
  "How many letters of a are added, left out, changed or swapped with the next one
  in b."
  [a b]
  (let [row (fn [[before last] i]
              (let [letter (fn [row j]
                             (let [same (if (= (get a i) (get b j)) 0 1)]
                               (conj row (cond-> (min (inc (peek row)) (inc (last (inc j))) (+ same (last j)))
                                           (and before (pos? j) (= (get a i) (get b (dec j))) (= (get a (dec i)) (get b j)))
                                           (min (inc (before (dec j))))))))]
                [last (reduce letter [(inc i)] (range (count b)))]))]
    (peek (peek (reduce row [nil (vec (range (inc (count b))))] (range (count a)))))))

(defn- plainly [word] (str/replace (str/lower-case (name word)) #"[^a-z]" ""))

(defn- meant
  "The known options that a word may stand for: those that are spelled most alike,
  under whatever name, or else those that share a part with it."
  [known word]
  (let [names (into (zipmap (keys known) (keys known)) (filter (comp known val)) elsewhere)
        word  (plainly word)
        far   (into {} (map (juxt identity #(edits word (plainly %)))) (keys names))
        least (apply min (vals far))
        near? (if (<= least (min 2 (max 1 (quot (count word) 3))))
                #(= least (far %))
                #(let [part (plainly %)]
                   (or (and (< 2 (count word)) (str/includes? part word))
                       (and (< 3 (count part)) (str/includes? word part)))))]
    (sort (distinct (map names (filter near? (keys names)))))))

(defn- found
  "A value as a message shows it."
  [x]
  (let [said (cond
               (fn? x)    "a function"
               (var? x)   (str x)
               (class? x) (str "the class " (.getName ^Class x))
               :else      (text (printer) x))]
    (if (< 80 (count said)) (str (subs said 0 77) "...") said)))

(defn- named!
  "Throws unless options are known by their names, and their values are of these kinds.
  Expected says what there is."
  [known expected options]
  (doseq [[k v] options]
    (when-not (contains? known k)
      (let [word    (when (or (keyword? k) (symbol? k) (string? k))
                      (keyword (str/replace (name k) #"^(:|--)" "")))
            instead (elsewhere word)
            names   (when (and word (not (string? instead)))
                      (meant known word))]
        (fail! :cannot-run (str "unknown option " (found k)
                                (cond
                                  (string? instead) (str ": " instead)
                                  (seq names)       (str "; did you mean " (str/join " or " names) "?")
                                  :else             (str "; expected " expected))))))
    (let [[expected is?] (kinds (known k))]
      (when-not (or (nil? v) (false? v) (is? v))
        (fail! :cannot-run (str k " must be " expected ", not " (found v)))))))

(defn- sensible!
  "Throws unless options make sense, as far as that can be said without clew."
  [known options]
  (when (or (record? options) (not (or (nil? options) (map? options))))
    (fail! :cannot-run (str "expected a map of options such as {:model (model/register)}, found " (found options))))
  (named! known ":model, :algorithm, :time-limit, :memory-limit, :command, :keep, :lazy? or a flag of clew check" options)
  (let [model (:model options)]
    (when (or (fn? model) (var? model) (class? model))
      (fail! :cannot-run (str "expected a model such as (model/register) as :model, found " (found model))))
    (when (and (map? model) (not (record? model)))
      (named! (assoc (dissoc options-of-checks :model :model-file :command :keep :lazy?) :name :word, :file :anything)
              ":name or :file, and flags of the model such as :init" model))
    (when-not (noop? model)
      (let [own (:init (model-flags model))]
        (when (and (some? own) (some? (:init options)) (not= own (:init options)))
          (fail! :cannot-run (str "the model begins with " (found own) ", and :init says " (found (:init options)) "; expected one of them")))))))

(defn- answers!
  "Throws unless clew takes options: it decides an empty history with them, which
  has no keys, and no files are written."
  [options]
  (let [; Whether a flag fits a model that is inferred depends on the history.
        options (if (or (:model options) (:model-file options))
                  options
                  (cond-> (select-keys options (conj not-of-models :semantics))
                    (:consistency options) (assoc :model :list-append, :consistency (:consistency options))))
        asked   (into {} (remove (fn [[k _]] (or (#{:strict :independent :keyless} k) (= :evidence (options-of-checks k))))) options)
        print!  (printer)
        number  (fn [_ _])]
    (decide! {:options (assoc asked :time-limit 10000), :print! print!, :history [], :number number, :asked (teller (:model options) [] number print!)} {} nil
             (fn [{:keys [status err] :as said}]
               (when (= 254 status)
                 (when (re-find #"asked-model" err)
                   (fail! :cannot-run (too-old options)))
                 (fail! :cannot-run (-> (first (str/split-lines err))
                                        (str/replace #"^clew: |; clew check --help lists the flags" "")
                                        (str/replace #"--(?=[a-z])" ":"))))
               (try
                 (answer! said)
                 (catch clojure.lang.ExceptionInfo e
                   (fail! :cannot-run (str (found (command options)) " does not answer as clew does: " (.getMessage e)))))))))

(defn ready!
  "Throws an exception that says what is wrong, unless options make sense and clew
  takes them. If they are :lazy?, nothing is looked at. Known are the kinds of options by
  name."
  [known options]
  (when-not (and (map? options) (true? (:lazy? options)))
    (sensible! known options)
    (when-not (noop? (:model options))
      (answers! (apply dissoc options (remove options-of-checks (keys known)))))))

;; Checkers

(defn- tuple? [x] (instance? clojure.lang.MapEntry x))

(defn- unwrapped [op]
  (if (tuple? (:value op))
    (update op :value val)
    op))

(defn- check-one [options test history opts]
  (if (noop? (:model options))
    noop-result
    (let [number (numbered history)
          print! (printer)
          own    (if (:independent options)
                   (eduction (map unwrapped) history)
                   history)
          asked  (teller (:model options) own number print!)]
      (ask {:options options, :draw? true, :test test, :history history, :number number, :print! print!, :asked asked, :opts opts}
           #(-> (cut %)
                (with-originals history number)
                (with-states asked))))))

(defn linearizable
  "A checker for linearizability, in place of jepsen.checker/linearizable. Options:

    :model         a Knossos model, such as (model/cas-register 0), or any record that
                   implements knossos.model/Model; or the name of one of clew's,
                   such as :stack; or {:name :cas-register, :init 0}, with more
                   flags of the model; or nil: it is the :model of the test, if that
                   is one of Knossos's, or else clew infers it
    :algorithm     :auto by default; Jepsen's :linear, :wgl and :competition are
                   known
    :time-limit    in milliseconds, as in Knossos, or a string such as \"5m\"
    :memory-limit  a string such as \"8GB\", or bytes
    :command       what to run, [\"clew\"] by default, looked up on the PATH of
                   the control node

    :keep          whether the history stays in the test's folder, in a file for
                   `clew check`
    :lazy?         whether the options and clew are looked at by the first check
                   only; otherwise this throws if anything is wrong with them

  Every other option is a flag of `clew check`: {:nil-reads :exact} is
  --nil-reads=exact, {:verify true} is --verify.

  Results are Knossos's, with :core, :explanation, :stats and :clew, which says how
  clew was asked: `clew check` of the stored test takes it from there. If the history
  is not linearizable, it leaves clew-MODEL.svg and clew-MODEL.html in the test's folder;
  the picture is linear.svg, too, unless Knossos has left one. If clew said something on
  standard error, that is in linearizable-MODEL.log. :keep leaves
  linearizable-history-MODEL.edn."
  [options]
  (ready! options-of-checks options)
  (reify checker/Checker
    (check [_ test history opts]
      (let [options (with-model options test)]
        (-> (total #(do (sensible! options-of-checks options)
                        (check-one options test history opts)))
            (telling options {}))))))

;; Transactions

(def ^:private drawing-of-elle
  "Options of Elle that make no difference to clew, which draws into the test's folder."
  [:directory :plot-format :plot-timeout :max-plot-bytes :cycle-search-timeout])

(defn- without-elle
  "The options of a check for those of transactions."
  [options]
  (if-not (map? options)
    options
    (let [levels (:consistency-models options)
          level  (cond
                   (nil? levels) :strict-serializable
                   (and (coll? levels) (= 1 (count levels)) (keyword? (first levels))) (first levels)
                   :else (fail! :cannot-run (str ":consistency-models must have one level such as [:serializable], not " (found levels))))]
      (cond-> (apply dissoc options :consistency-models drawing-of-elle)
        (not (:consistency options))     (assoc :consistency level)
        (= :rw-register (:model options)) (assoc :model {:name :multi-register, :nil-reads :exact})))))

(defn transactions
  "A checker for transactions that append to lists and read them, or write registers and
  read them, in place of those of jepsen.tests.cycle.append and .wr. Options are those of
  linearizable, and Elle's:

    :model               :list-append, or :rw-register, of which nil is the initial
                         value; nil: clew infers it, and reads of nil match anything
    :consistency-models  the level that is decided, [:strict-serializable] by default;
                         docs/transactions.md has them all

  A result has Elle's :anomaly-types, :anomalies, :not and :also-not."
  [options]
  (linearizable (without-elle options)))

;; Many keys at once

(defn keyer
  "A function of the client operations in order: a completion without a tuple gets
  the key of its invocation, where that has one."
  []
  (let [open (volatile! (transient {}))] ; by process, the key of its invocation
    (fn [{:keys [process type value] :as op}]
      (cond
        (= :invoke type) (do (vswap! open #(if (tuple? value)
                                             (assoc! % process (key value))
                                             (dissoc! % process)))
                             op)
        (tuple? value)   (do (vswap! open dissoc! process)
                             op)
        :else            (let [k (get @open process open)]
                           (if (identical? open k)
                             op
                             (do (vswap! open dissoc! process)
                                 (assoc op :value (clojure.lang.MapEntry/create k value)))))))))

(defn- keyed
  "The client operations, with their keys."
  [history]
  (into [] (comp (filter client?) (map (keyer))) history))

(defn unlike-a-tuple
  "An operation as clew must see it: where its value is a vector, but no tuple, it
  becomes a list, which equals it. An operation without a key is of every key."
  [op]
  (let [value (:value op)]
    (if (and (vector? value) (not (tuple? value)))
      (assoc op :value (apply list value))
      op)))

(defn- of-key
  "The operations of a key, without it."
  [ops k]
  (into [] (comp (filter #(or (not (tuple? (:value %))) (= k (key (:value %)))))
                 (map unwrapped))
        ops))

(defn- merge-valid [verdicts]
  (cond
    (some false? verdicts)  false
    (every? true? verdicts) true
    :else                   :unknown))

(defn- sorted
  "A map, sorted where its keys can be compared, and differ then: 1 and 1.0 do not."
  [m]
  (try
    (let [s (into (sorted-map) m)]
      (if (= (count s) (count m)) s m))
    (catch ClassCastException _ m)))

(def ^:private of-keys
  "The flags of a check of many keys."
  {:independent true, :keyless :every})

(defn- ask-keys
  "A map of each key's result."
  [options test ops ks opts]
  (let [number  (numbered ops)
        print!  (printer)
        own     (eduction (map unwrapped) ops)
        asked   (teller (:model options) own number print!)
        by-text (into {} (map (juxt #(edn/read-string {:default tagged} (text print! %)) identity)) ks)]
    (ask {:options options, :ours of-keys, :test test
          :history (eduction (map unlike-a-tuple) ops), :number number, :print! print!, :asked asked, :opts opts}
         (fn [answer]
           (let [given (into {} (map (fn [[k r]] [(get by-text k k) r])) (:results answer))
                 mine  (for [k ks]
                         (cut (or (get given k)
                                  (fail! :unparsable-output (str "clew printed no result for the key " (text print! k))))))]
             (zipmap ks (map #(with-states % asked) (with-originals mine own number))))))))

(defn- check-keys [options test history opts]
  (let [ops     (keyed history)
        ks      (into [] (comp (map :value) (filter tuple?) (map key) (distinct)) ops)
        results (cond
                  (empty? ops)             {}
                  (noop? (:model options)) (zipmap ks (repeat noop-result))
                  :else                    (ask-keys options test ops ks opts))
        bad     (filterv (comp false? :valid? results) (keys (sorted results)))]
    ; A picture is of one history.
    (when (store-folder test opts)
      (doseq [k (take max-drawn-keys bad)]
        (total #(check-one options test (of-key ops k)
                           {:subdirectory [(:subdirectory opts) "independent" k]}))))
    {:valid?   (merge-valid (map :valid? (vals results)))
     :results  (sorted results)
     :failures bad}))

(defn independent
  "A checker for tests of many keys, in place of
  (jepsen.independent/checker (linearizable options)). It hands all keys to clew at
  once, within one :time-limit. The results are
  {:valid? .., :results {key result}, :failures [key ..]}; for the first failing
  keys it leaves a picture below independent/."
  [options]
  (ready! options-of-checks options)
  (reify checker/Checker
    (check [_ test history opts]
      (let [options (with-model options test)]
        (-> (total #(do (sensible! options-of-checks options)
                        (check-keys options test history opts)))
            (telling options of-keys))))))
