(ns clew.watch
  "Looks at a test while it runs: every operation goes to one `clew check --follow`
  as it is recorded, and the test can end at the first violation. The test's checker
  decides the whole history as always; nothing of that depends on what is here.

  This file needs clew.checker beside it and Jepsen 0.2 or later."
  (:require [clew.checker :as clew]
            [clojure.tools.logging :refer [warn]]
            [jepsen.generator :as gen])
  (:import (java.io File IOException OutputStream)
           (java.nio.file Files)
           (java.nio.file.attribute FileAttribute)
           (java.util List)
           (java.util.concurrent LinkedBlockingQueue)))

(def limits
  "Flags that bound a process that nobody ends: how long it may take for a verdict,
  and how long it waits for operations."
  {:time-limit "10s", :idle "1h"})

(defn- daemon! [f]
  (doto (Thread. ^Runnable f "clew watch")
    (.setDaemon true)
    .start))

(defn- feed!
  "Prints operations [number op] from a queue to clew, until ::end. It has a thread
  of its own, so that a test never waits for clew."
  [^LinkedBlockingQueue queue ^OutputStream out print!]
  (let [to (StringBuilder.)]
    (try
      (loop []
        (let [next (.take queue)]
          (when-not (= ::end next)
            (let [[number op] next]
              (clew/print-op! print! to number op))
            (when (or (.isEmpty queue) (< 65536 (.length to)))
              (.write out (.getBytes (str to) "UTF-8"))
              (.flush out)
              (.setLength to 0))
            (recur))))
      (catch IOException _) ; clew has ended
      (catch Throwable t
        (warn t "clew does not see the rest of this test")))))

(defn- conclude!
  "Waits for clew, and sets what it has found."
  [found ^Process process stdout stderr]
  (let [status (.waitFor process)]
    (case status
      1     (let [answer (clew/read-answer stdout)]
              (reset! found answer)
              (warn "clew: the history is not linearizable:" (:explanation answer)))
      (0 2) nil ; the history has ended
      (warn "clew does not watch this test: it ended with exit status" (str status ";") (clew/tail stderr)))))

(defn- begin!
  "Starts clew. Returns a function to end it."
  [options queue found]
  (let [scratch (.toFile (Files/createTempDirectory "clew-watch" (make-array FileAttribute 0)))
        stdout  (File. ^File scratch "answer.edn")
        stderr  (File. ^File scratch "stderr")
        print!  (clew/printer)
        command (clew/arguments (merge limits (dissoc options :abort?))
                                (cond-> {:follow true}
                                  (:independent options) (assoc :keyless :every))
                                "-" print!)
        ^Process process (try
                           (-> (ProcessBuilder. ^List command)
                               (.redirectOutput stdout)
                               (.redirectError stderr)
                               .start)
                           (catch IOException e
                             (clew/delete-tree! scratch)
                             (throw e)))
        ended   (atom false)]
    (daemon! #(feed! queue (.getOutputStream process) print!))
    (daemon! #(try
                (conclude! found process stdout stderr)
                (catch Throwable t
                  (warn t "clew's answer was not understood"))
                (finally
                  (clew/delete-tree! scratch))))
    (fn []
      (when (compare-and-set! ended false true)
        (.put ^LinkedBlockingQueue queue ::end)
        (when (.isAlive process)
          (clew/kill! process))))))

(defn- watcher
  "What there is of a watch: see watch. Jepsen calls a generator from one thread."
  [options]
  {:options  options
   :queue    (LinkedBlockingQueue.)
   :found    (atom nil)   ; the result, once there is a violation
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

(defn- saw!
  "Hands an event to clew."
  [{:keys [options ^LinkedBlockingQueue queue found end position busy own] :as watch} {:keys [type process] :as event}]
  (when (contains? #{:invoke :ok :fail :info} type)
    (swap! position inc)
    (when (clew/client? event)
      (when (nil? @end)
        (reset! end (try
                      (begin! options queue found)
                      (catch Throwable t
                        (warn t "clew does not watch this test")
                        (constantly nil)))))
      (swap! busy (if (= :invoke type) conj disj) process)
      (.put queue [@position (own event)])
      (end-if-over! watch))))

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
    (saw! watch event)
    (Watched. (gen/update inner test context event) watch)))

(defn watch
  "The generator of a test (the whole of it, around everything else), which is
  watched while it runs. Options are those of clew.checker/linearizable, and

    :abort?       whether the test invokes nothing more once its history is not
                  linearizable; otherwise that is only logged
    :independent  whether values are jepsen.independent's tuples

  There has to be a :model. A watch is for one run of a test."
  [options generator]
  (Watched. generator (watcher options)))
