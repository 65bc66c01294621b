(ns clew.watch
  "Looks at a test while it runs: every operation goes to a file, and to one
  `clew check --follow`, as it is recorded, and the test can end at the first violation.
  The test's checker decides the whole history as always; nothing of that depends on
  what is here.

  This file needs clew.checker beside it and Jepsen 0.2 or later."
  (:require [clew.checker :as clew]
            [clojure.java.io :as io]
            [clojure.tools.logging :refer [warn]]
            [jepsen.generator :as gen])
  (:import (java.io File FileOutputStream IOException OutputStream)
           (java.nio.file Files)
           (java.nio.file.attribute FileAttribute)
           (java.util List)
           (java.util.concurrent LinkedBlockingQueue)))

(def limits
  "Flags that bound a process that nobody ends: how long it may take for a verdict,
  and how long it waits for operations."
  {:time-limit "10s", :idle "1h"})

(def options-of-watches
  "By name, the kind of what a watch may be asked."
  (assoc clew/options-of-checks :abort? :switch, :idle :time))

(defn- daemon! [f]
  (doto (Thread. ^Runnable f "clew watch")
    (.setDaemon true)
    .start))

(defn- complain!
  "Logs in one line what went wrong."
  [what ^Throwable t]
  (warn what (or (.getMessage t) (str t))))

;; Events as lines of JSON, which docs/formats.md explains

(defn- word?
  "Whether a key has the names of keywords as strings, and this is one."
  [k v]
  (and (contains? #{:process :type :f} k) (keyword? v) (re-matches #":[a-z][a-z-]*" (str v))))

(defn- json-value [print! k v]
  (cond
    (nil? v)    "null"
    (int? v)    (str v)
    (word? k v) (clew/json (name v))
    :else       (str "{\"edn\":" (clew/json (clew/text print! v)) "}")))

(defn- line
  "An event as a line, with the keys that clew reads or that tell why."
  ^bytes [print! number position event]
  (let [to (StringBuilder. "{\"index\":")]
    (.append to (str number))
    (doseq [k (cond-> [:process :type :f :value :key :time :error] position (conj position))
            :let [v (get event k)]
            :when (or (some? v) (= :value k))]
      (doto to (.append ",\"") (.append (name k)) (.append "\":") (.append ^String (json-value print! k v))))
    (.getBytes (str (.append to "}\n")) "UTF-8")))

(defn- recorder
  "What the events of a test are written to: a clew.jsonl in its folder, if it has one.
  Each is in the system's hands before anything else is done with it, so that kill -9 loses
  none; `clew check` reads it if the test stored less. It is open until the JVM ends. If
  two watches see a test, one of them writes it."
  ^OutputStream [test]
  (when-let [folder (clew/store-folder test nil)]
    (let [file (io/file folder "clew.jsonl")]
      (when (.createNewFile file)
        (FileOutputStream. file)))))

;; Clew

(defn- feed!
  "Writes lines from a queue to clew, until ::end. It has a thread of its own, so that a
  test never waits for clew."
  [{:keys [^LinkedBlockingQueue queue deaf]} ^OutputStream out]
  (try
    (loop []
      (let [next (.take queue)]
        (when-not (= ::end next)
          (.write out ^bytes next)
          (when (.isEmpty queue)
            (.flush out))
          (recur))))
    (catch IOException _) ; clew has ended
    (finally
      (reset! deaf true)
      (.clear queue))))

(defn- tell!
  "Logs why a history is not linearizable, or those of keys."
  [{:keys [failures results explanation]} page]
  (let [page (if page (str "; " page " shows it") "")]
    (if results
      (doseq [k failures]
        (warn (str "clew: the history of key " (pr-str k) " is not linearizable: " (:explanation (get results k)) page)))
      (warn (str "clew: the history is not linearizable: " explanation page)))))

(defn- conclude!
  "Waits for clew, and sets what it has found. If it was ended, its status says nothing."
  [{:keys [found ended]} ^Process process stdout stderr ^File page]
  (let [status (.waitFor process)
        answer (when (= 1 status)
                 (clew/read-answer stdout))]
    (when (and page (not answer)) ; pages are of linearizations, too
      (.delete page))
    (case status
      1     (do (reset! found answer)
                (tell! answer (when (and page (.exists page)) page)))
      (0 2) nil ; the history has ended
      (when-not @ended
        (warn "clew does not watch this test: it ended with exit status" (str status ";") (clew/tail stderr))))))

(defn- watchable!
  "Throws unless a model can be watched."
  [{:keys [model model-file]}]
  (when-not (or model model-file)
    (throw (ex-info "clew.watch needs a :model: later operations might change what is inferred" {})))
  (when (clew/asked? model)
    (throw (ex-info (str "clew.watch cannot use a model of your own such as " (.getName (class model))
                         "; write it as a model file for clew, {:file \"counter.star\"}, or let the checker decide at the end") {}))))

(defn- begin!
  "Starts clew. Returns a function to end it."
  [{:keys [options ^LinkedBlockingQueue queue ended] :as watch} test]
  (when (:lazy? options)
    (clew/ready! options-of-watches (dissoc options :lazy?))
    (watchable! options))
  (let [scratch (.toFile (Files/createTempDirectory "clew-watch" (make-array FileAttribute 0)))
        stdout  (File. ^File scratch "answer.edn")
        stderr  (File. ^File scratch "stderr")
        page    (some-> (clew/store-folder test nil) (io/file "clew-watch.html"))
        command (clew/arguments (merge limits (dissoc options :abort?))
                                (cond-> {:follow true}
                                  page                   (assoc :html (str page))
                                  (:independent options) (assoc :keyless :every))
                                "-" (clew/printer))
        ^Process process (try
                           (clew/start! (-> (ProcessBuilder. ^List command)
                                            (.redirectOutput stdout)
                                            (.redirectError stderr)))
                           (catch Throwable t
                             (clew/delete-tree! scratch)
                             (throw t)))]
    (daemon! #(feed! watch (.getOutputStream process)))
    (daemon! #(try
                (conclude! watch process stdout stderr page)
                (catch Throwable t
                  (complain! "clew's answer was not understood:" t))
                (finally
                  (clew/delete-tree! scratch))))
    (fn []
      (when (compare-and-set! ended false true)
        (.put queue ::end)
        (when (.isAlive process)
          (clew/kill! process))))))

;; The generator

(defn- watcher
  "What there is of a watch: see watch. Jepsen calls a generator from one thread."
  [options]
  {:options  options
   :print!   (clew/printer)
   :queue    (LinkedBlockingQueue.)
   :ended    (atom false) ; the test has, and so has clew
   :deaf     (atom false) ; clew takes no more lines
   :found    (atom nil)   ; the result, once there is a violation
   :record   (atom nil)   ; what events are written to
   :end      (atom nil)   ; nil before the first operation
   :position (atom -1)    ; of the last event in the history
   :busy     (atom #{})   ; clients at work
   :over     (atom false) ; nothing more will be invoked
   :own      (if (:independent options)
               (comp clew/unlike-a-tuple (clew/keyer))
               identity)})

(defn- end-if-over! [{:keys [over busy end]}]
  (when (and @over (empty? @busy) @end)
    (@end)))

(defn- first!
  "What happens before the first event of a test."
  [{:keys [options deaf record end] :as watch} test]
  (try
    (reset! record (recorder test))
    (catch Throwable t
      (complain! "clew does not record this test:" t)))
  (reset! end (try
                (if (clew/noop? (:model options))
                  (throw (ex-info "its model allows everything" {}))
                  (begin! watch test))
                (catch Throwable t
                  (reset! deaf true)
                  (complain! "clew does not watch this test:" t)
                  (constantly nil)))))

(defn- record!
  "Writes a line, and all of it, or nothing more from now on: what is there must be how
  the history begins."
  [{:keys [record]} ^bytes line]
  (when-let [^OutputStream out @record]
    (try
      (.write out line)
      (catch Throwable t
        (reset! record nil)
        (complain! "clew does not record the rest of this test:" t)))))

(defn- saw!
  "Records an event, and hands it to clew."
  [{:keys [options print! ^LinkedBlockingQueue queue deaf record end position busy own] :as watch} test {:keys [type process] :as event}]
  (when (contains? #{:invoke :ok :fail :info} type)
    (when (nil? @end)
      (first! watch test))
    (let [client? (clew/client? event)
          event   (if client? (own event) event)
          n       (swap! position inc)]
      (when (or @record (not @deaf))
        (when-let [line (try
                          (line print! n (clew/position options) event)
                          (catch Throwable t
                            (reset! record nil)
                            (reset! deaf true)
                            (complain! "clew does not see the rest of this test:" t)))]
          (record! watch line)
          (when (and client? (not @deaf))
            (.put queue line))))
      (when client?
        (swap! busy (if (= :invoke type) conj disj) process)
        (end-if-over! watch)))))

(deftype Watched [inner watch]
  gen/Generator
  (op [_ test context]
    (let [{:keys [options found over]} watch
          next (when-not (and (:abort? options) @found)
                 (gen/op inner test context))]
      (if next
        [(first next) (Watched. (second next) watch)]
        (do (reset! over true)
            (end-if-over! watch)
            nil))))
  (update [_ test context event]
    (saw! watch test event)
    (Watched. (gen/update inner test context event) watch)))

(defn watch
  "The generator of a test (the whole of it, around everything else), which is
  watched while it runs. Options are those of clew.checker/linearizable, and

    :abort?       whether the test invokes nothing more once its history is not
                  linearizable; otherwise that is only logged
    :independent  whether values are jepsen.independent's tuples

  There has to be a :model. A mistake in the options throws, unless they are :lazy?. A
  watch is for one run of a test. It leaves clew.jsonl, with all events, in the test's
  folder, and clew-watch.html at the first violation."
  [options generator]
  (clew/ready! options-of-watches options)
  (when-not (:lazy? options)
    (watchable! options))
  (Watched. generator (watcher options)))
