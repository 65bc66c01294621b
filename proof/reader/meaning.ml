(* What operations mean in each model: the calls of its specification, and the initial state. *)

open Lists

open Edn
open History
module P = Proved

let pos = Numbers.pos and z = Numbers.z

(* Equal values have equal numbers. *)
let small = Small.create () and others : int Texts.t = Texts.create 1000 and numbers = ref 0
let fresh () = incr numbers; !numbers
let number_of_small i = if Small.get small i = 0 then Small.set small i (fresh ()); Small.get small i
let number_of v =
  match v with
  | Int i when Small.has i -> number_of_small i
  | _ ->
    let name = canonical v in
    match Texts.find_opt others name with
    | Some n -> n
    | None -> let n = fresh () in Texts.add others name n; n
let intern v = pos (number_of v)
let nil = intern Nil

let listed v = match v with List l -> l.items | Row { packed; set = false } -> unpacked packed | _ -> fail "what is not a list"
let is_list v = match v with List _ | Row { set = false; _ } -> true | _ -> false
let each_number f v = match v with
  | List { items; _ } | Set items -> List.iter (fun v -> f (number_of v)) items
  | Row r -> for i = 0 to row_length r.packed - 1 do f (number_of_small (row_at r.packed i)) done
  | _ -> ()
let is_map v = match v with Map _ -> true | _ -> false
let pairs v = match v with Map kvs -> kvs | _ -> reject "a model that cannot begin with such a value"
let two v = match listed v with a :: b :: _ -> a, b | _ -> fail "what is not a pair"
let is_nil v = match v with Nil -> true | _ -> false
let yes = Bool true and no = Bool false

(* A model: its data type with the initial state, and the calls that operations mean. Then what need not be trusted: which patterns to try, and which steps lead
   from one operation to the next if they are named as a cycle, in order, or as another anomaly. *)
type meaning =
  | Meaning : ('call, 'est, 'claim) P.data_type * (op -> 'call) * ('call, 'claim) Patterns.propose -> meaning
  | Transactional : ('call, 'est, 'claim) P.data_type * (op -> 'call) * ('call, 'claim) Patterns.propose
      * (('call, unit) P.op list -> bool -> ('call, unit) P.op list -> 'claim) -> meaning

type given = { p : (string * string) list; ops : op array }
let param g name = List.assoc_opt name g.p
let rec without_rows v = match v with
  | Row { packed; set } -> if set then Set (unpacked packed) else List { items = unpacked packed; round = false }
  | Map kvs -> Map (List.map (fun (k, v) -> without_rows k, without_rows v) kvs)
  | List l -> List { l with items = List.map without_rows l.items }
  | Set items -> Set (List.map without_rows items)
  | v -> v
let init g = Option.map (fun text -> without_rows (try only text with Unreadable why -> fail "%s, in the parameter init" why)) (param g "init")
let knossos g = param g "semantics" = Some "knossos"
let every g = List.filter (fun op -> op.status <> Fail) (Array.to_list g.ops)

let one = pos 1

let registers d call = Meaning (d, call, Patterns.places d.P.start)
let register g =
  let call op = match op.f with
    | "read" -> if op.status <> Ok || (is_nil op.value && param g "nil-reads" <> Some "exact") then [] else P.read one (intern op.value)
    | "write" -> P.write one (intern op.value)
    | _ ->
      let old, fresh = if is_nil op.value then Nil, Nil else two op.value in
      if op.status = Fail then P.refused one (intern old) else P.cas (=) one (intern old) (intern fresh) in
  registers (P.register (match init g with Some v -> intern v | None -> nil) []) call

let multi_register g =
  let start = match init g with Some v -> List.map (fun (k, v) -> (intern k, intern v)) (pairs v) | None -> [] in
  let kind v = match v with Key ("r" | "read") -> `Read | Key ("w" | "write") -> `Write | _ -> fail "a step that neither reads nor writes" in
  let step v = match listed v with [ f; k; v ] -> kind f, k, v | _ -> fail "a step that neither reads nor writes" in
  (* a nil of [:r k nil] in a :txn was seen, as in Elle; one of [:read k nil] may stand for anything, as in Knossos *)
  let saw_nil op v = param g "nil-reads" = Some "exact" || (op.f = "txn" && match listed v with Key "r" :: _ -> true | _ -> false) in
  let call op =
    let said = if is_nil op.value then [] else listed op.value in
    let steps = List.map step said in
    if op.status = Ok && not (is_nil op.given) then begin
      let called = List.map step (listed op.given) in
      check (List.length called = List.length steps && List.for_all2 (fun (f, k, v) (f', k', v') -> f = f' && equal k k' && (f = `Read || equal v v')) called steps)
        "a completion with other steps than its invocation" end;
    List.concat (List.map2 (fun (f, k, v) whole -> match f with
        | `Write -> [ P.Put (intern k, intern v) ]
        | `Read when op.status = Ok && (not (is_nil v) || saw_nil op whole) -> [ P.Get (intern k, intern v) ]
        | `Read -> []) steps said) in
  registers (P.register nil start) call

(* A place for each element, which has true or false. *)
let lookup_set g =
  let start = match init g with Some (List { items; _ } | Set items) -> List.map (fun v -> (intern v, intern yes)) items | Some _ -> reject "a set that cannot begin with such a value" | None -> [] in
  let there = intern yes and gone = intern no in
  let call op =
    let place = intern op.given in
    let kind = match op.f with "add" | "insert" -> `Insert | "delete" | "remove" -> `Remove | _ -> `Contains in
    if op.status = Info then (match kind with `Contains -> [] | `Insert -> [ P.Put (place, there) ] | `Remove -> [ P.Put (place, gone) ])
    else begin
      let answer = match op.value with List { items = [ v; a ]; _ } when equal v op.given -> a | a -> a in
      readable (answer = yes || answer = no) "an answer that is neither true nor false";
      match kind, answer = yes with
      | `Contains, true | `Insert, false -> P.read place there
      | `Contains, false | `Remove, false -> P.read place gone
      | `Insert, true -> P.cas (=) place gone there
      | `Remove, true -> P.cas (=) place there gone
    end in
  registers (P.register gone start) call

let container g make kind =
  let call op =
    let lost = op.status = Info in
    let none = not (knossos g) && (is_nil op.value || op.value = Key "empty") in
    match op.f with
    | "enqueue" | "push" | "insert" -> readable (not none) "an element that says that there is none"; P.Push (intern op.value)
    | "dequeue" | "pop" | "poll" ->
      if none then (if lost && is_nil op.value then P.TakeAny else P.Empty) else P.Take (intern op.value)
    | "peek" -> if lost then P.Idle else if none then P.Empty else P.Peek (intern op.value)
    | _ -> if lost && is_nil op.value then P.DrainAny else P.Drain (List.map intern (listed op.value)) in
  let items = match init g with Some (List { items; _ }) -> List.map intern items | Some _ -> reject "a container that cannot begin with such a value" | None -> [] in
  Meaning (make items, call, Patterns.container kind items)

(* A drain that never returned may leave very many states. *)
let drained most outcomes d =
  let next_of e call k =
    (match call with P.DrainAny -> readable (outcomes e <= most) "a drain that never returned, and may leave more than %d states" most | _ -> ());
    d.P.program.next_of e call k in
  { d with P.program = { d.P.program with next_of } }
let fifo items = drained 10_000 (fun (front, back) -> 1 + List.length front + List.length back) (P.fifo_queue items)
let unordered items = drained 1_000 (fun bag -> List.fold_left (fun n (_, copies) -> min 1_000_000 n * (1 + Numbers.int_of_pos copies)) 1 (P.PositiveMap.elements bag)) (P.unordered_queue items)

(* Ranks follow Clojure's compare: of numbers that are floats or smaller than their precision, or of strings, keywords or symbols without a
   namespace, or of characters, each without characters beyond the first 65,536; of booleans. *)
let ranks g =
  let mentioned = ref (match init g with Some v -> listed v | None -> []) in
  readable (knossos g || List.for_all (fun v -> not (is_nil v) && v <> Key "empty") !mentioned) "an element that says that there is none";
  List.iter (fun op -> match op.f with
      | "enqueue" | "insert" | "dequeue" | "poll" | "peek" -> if not (op.status = Info && op.f = "peek") then mentioned := op.value :: !mentioned
      | _ -> ()) (every g);
  let met = Small.create () in
  let first v = let n = number_of v in Small.get met n = 0 && (Small.set met n 1; true) in
  let values = List.filter (fun v -> not (is_nil v) && (knossos g || v <> Key "empty") && first v) !mentioned in
  let simple s = String.for_all (fun c -> Char.code c < 0xf0) s in
  let kind v = match v with
    | Int n when abs n < 1_000_000_000_000_000 -> 'n'
    | Int _ | Big _ -> 'i'
    | Atom s when s.[0] = 'f' && s <> "finf" && s <> "f-inf" -> 'n'
    | Str s when simple s -> 's'
    | Key s when simple s && not (String.contains s '/') -> 'k'
    | Atom s when s.[0] = 'y' && simple s && not (String.contains s '/') -> 'y'
    | Atom s when s.[0] = 'c' && String.length s = 2 -> 'c'
    | Bool _ -> 'b'
    | _ -> fail "values whose order is uncertain" in
  let number v = match v with Int n -> float_of_int n | Atom s -> float_of_string (String.sub s 1 (String.length s - 1)) | _ -> 0.0 in
  let compare_ = match List.sort_uniq compare (List.map kind values) with
    | [] -> compare
    | [ 'n' ] -> fun a b -> compare (number a) (number b)
    | [ 'i' ] | [ 'i'; 'n' ] when List.for_all whole values -> fun a b -> compare (int_of a) (int_of b)
    | [ ('s' | 'k' | 'y' | 'c' | 'b') ] -> compare
    | _ -> fail "values whose order is uncertain" in
  let compare_ a b = match a, b with Nil, Nil -> 0 | Nil, _ -> -1 | _, Nil -> 1 | _ -> compare_ a b in
  let sorted = List.sort compare_ (if knossos g then Nil :: values else values) in
  let table = Array.make (1 + List.fold_left (fun n v -> max n (number_of v)) 0 sorted) one in
  let n = List.length sorted and rank = ref 0 and last = ref None in
  List.iter (fun v ->
      (match !last with Some u when compare_ u v = 0 -> () | _ -> incr rank);
      last := Some v;
      table.(number_of v) <- pos (if param g "priority" = Some "min" then n + 1 - !rank else !rank)) sorted;
  fun v -> let v = Numbers.int_of_pos v in if v < Array.length table then table.(v) else one

let growing_set g =
  let element = Numbers.from_the_other_end and met = Small.create () and reads = ref 0 in
  (* Elements in order, each once, are compared faster. *)
  let numbers v =
    incr reads;
    let least = ref max_int and most = ref 0 and count = ref 0 in
    let meet n =
      if Small.get met n <> !reads then begin
        Small.set met n !reads; incr count;
        if n < !least then least := n;
        if n > !most then most := n end in
    each_number meet v;
    if !most - !least > 20 * !count then begin
      let all = ref [] in
      each_number (fun n -> all := n :: !all) v;
      List.map element (List.sort_uniq (fun (a : int) b -> compare a b) !all) end
    else begin
      let all = ref [] in
      for n = !most downto !least do if Small.get met n = !reads then all := element n :: !all done;
      !all end in
  let elements v = match v with List _ | Set _ -> numbers v | _ -> reject "a set that cannot begin with such a value" in
  let call op =
    if op.f = "add" then P.Include (element (number_of op.value))
    else if op.status <> Ok || (is_nil op.value && not (knossos g)) then P.NoRead
    else match op.value with
      | Set _ | Row { set = true; _ } -> P.Members (numbers op.value)
      | List _ | Row _ when not (knossos g) -> P.Members (numbers op.value)
      | _ -> readable (knossos g) "what was read of a set, and is not one"; P.NoSet in
  Meaning (P.growing_set (match init g with Some v -> elements v | None -> []), call, Patterns.none)

(* Numbers of permits. What says nothing of numbers counts as one. *)
let silent v = match v with
  | Map kvs -> List.for_all (fun (k, _) -> List.mem k [ Key "client"; Key "fence"; Key "permits"; Key "uid" ]) kvs
  | Nil | Bool true | Key _ -> true
  | Atom s -> s.[0] = 'y'
  | Str s -> String.for_all (fun c -> c < '\128') s && String.exists (fun c -> not (String.contains "-+.0123456789 \t\n\r\011\012" c)) s || String.trim s = ""
  | _ -> false
let permits op =
  let said v = if is_map v then field v "permits" else v in
  List.iter (fun v -> let n = said v in
      readable (if whole n then int_of n > 0 && int_of n <= 1 lsl 30 else not (has_field v "permits") && silent v && (equal n v || is_nil n)) "a number of permits or none") [ op.value; op.given ];
  match List.sort_uniq compare (List.filter_map (fun v -> let n = said v in if whole n then Some (int_of n) else None) [ op.value; op.given ]) with
  | [] -> 1
  | [ n ] -> n
  | _ -> fail "an operation of several numbers of permits"

let shift n told = { P.amount = z n; told }
let number g name default = match param g name with Some s -> int_of_string s | None -> default
let semaphore g =
  let many = param g "permits" <> None in
  let call op = let n = if many then permits op else 1 in shift (if op.f = "acquire" then n else -n) None in
  let most = number g "permits" 1 in
  Meaning (P.counter (Some P.Z0) (Some (z most)) P.Z0, call, Patterns.numbers most)

let counting_semaphore _ =
  let call op =
    let answers = if op.f = "incr" then [ yes; Nil ] else [ yes; no ] in
    readable (op.status = Info || List.mem op.value answers) "an answer that is neither true nor false";
    readable (List.mem op.given [ Nil; yes; Int 1 ]) "an amount that may be another one than 1";
    if op.status = Ok && op.value = no then shift 0 (Some P.Z0) else shift (if op.f = "incr" then 1 else -1) None in
  Meaning (P.counter (Some P.Z0) None P.Z0, call, Patterns.none)

let told g =
  check (List.mem (param g "answers") [ Some "told"; Some "echo" ]) "the certificate does not say whether answers are told";
  param g "answers" = Some "told"
let counter g =
  let num v = readable (whole v) "what is not an integer"; readable (abs (int_of v) < 1 lsl 55) "a number of this size"; int_of v in
  let amount v = readable (abs (num v) < 1 lsl 31) "an amount of this size"; int_of v in
  let start = match init g with Some v -> check (whole v) "a counter that cannot begin with such a value"; num v | None -> 0 in
  let call op =
    if op.f = "read" then (if op.status <> Ok then shift 0 None else shift 0 (Some (z (num op.value))))
    else if op.f = "add" then shift (amount op.value) None
    else begin
      let always = op.f = "add-and-get" in
      let n = if is_nil op.given && not always then 1 else amount op.given in
      let n = if String.length op.f >= 4 && String.sub op.f 0 4 = "decr" then -n else n in
      if op.status <> Ok then shift n None
      else begin
        let both = match op.value with List { items = [ a; _ ]; _ } -> equal a op.given | _ -> false in
        let fresh = if both then snd (two op.value) else op.value in
        let tells = whole fresh in
        readable ((tells && (both || not always)) || (not always && (is_nil op.value || equal op.value op.given))) "an answer that is no new value";
        shift n (if tells && (always || told g) then Some (z (num fresh)) else None)
      end
    end in
  Meaning (P.counter None None (z start), call, Patterns.none)

let id_generator g =
  if param g "ids" = Some "growing" then
    let call op = if op.status <> Ok then P.Growing.NoNext else (readable (whole op.value) "an id that is not an integer, as ids grow"; P.Growing.Next (z (int_of op.value))) in
    Meaning (P.growing_ids, call, Patterns.none)
  else
    let call op = if op.status <> Ok then P.NoId else (readable (not (is_nil op.value)) "an id that is nil"; P.Id (intern op.value)) in
    Meaning (P.ids, call, Patterns.none)

(* kv: the key, and what the operation did with it. *)
type kv = Get of Edn.t | Failed of Edn.t | Erase | Put of Edn.t | Append of Edn.t | Cas of Edn.t * Edn.t | Nothing

let kv_fields op v in_map answers =
  let known = [ "value"; "succeeded"; "found" ] @ (if op.f = "cas" then [ "expected"; "new"; "old" ] else []) in
  let kvs = match v with Map kvs -> kvs | _ -> [] in
  let x = List.filter_map (fun (k, v) -> match k with Key k -> Some (k, v) | _ -> None) kvs in
  let all_keys = List.length x = List.length kvs in
  if in_map && is_map v then begin
    readable (all_keys && List.for_all (fun (k, _) -> k = "key" || List.mem k known) x) "a map with other keys than its own"; x end
  else if answers && all_keys && List.exists (fun (k, _) -> k <> "value") x && List.for_all (fun (k, _) -> List.mem k known) x
          && List.for_all (fun n -> match List.assoc_opt n x with None | Some (Bool _) -> true | _ -> false) [ "succeeded"; "found" ] then x
  else [ ("value", v) ]

let kv_read g op =
  let given = ref op.given and value = ref op.value and k = ref op.key and lost = op.status <> Ok in
  let keys = param g "kv-keys" and named = (not (is_nil op.key)) || has_field op.given "key" in
  check (named = (keys = None)) "a :key, or none, where the certificate says otherwise";
  if is_nil !k && named then k := field !given "key"
  else if keys = Some "pairs" then begin
    (match !given with
     | List { items = [ a; b ]; _ } -> readable (op.f <> "get" || is_nil b) "a get of several keys"; k := a; given := b
     | _ -> reject "an operation that is no pair of a key and a value");
    match !value with
    | List { items = [ a; b ]; _ } when equal a !k -> value := b
    | v -> readable (lost || v = yes || v = no) "an answer without the key" end
  else if keys <> None then begin
    let told_none = if op.f = "delete" then !given = yes || !given = no else lost || equal !given !value in
    check (not (List.mem op.f [ "get"; "delete" ]) || is_nil !given || told_none) "an operation that may have been called with a key" end;
  let given = !given and value = !value and k = !k in
  let in_map = named && is_nil op.key in
  let asked = kv_fields op given in_map (op.f = "cas") in
  let find x n = match List.assoc_opt n x with Some v -> v | None -> Nil in
  readable (not (List.exists (fun n -> List.mem_assoc n asked) [ "succeeded"; "found" ])) "an invocation that says what came of it";
  readable (not in_map || not (List.mem op.f [ "put"; "append"; "put-if-absent" ]) || List.mem_assoc "value" asked) "an update without its :value";
  let boolean v = v = yes || v = no in
  let differs = not (equal given value) in
  let x =
    if (not lost) && boolean value && differs && op.f <> "get" && op.f <> "put" then ("succeeded", value) :: List.remove_assoc "succeeded" asked
    else if (not lost) && (op.f = "get" || differs) then begin
      let told = kv_fields op value in_map true in
      let x = if op.f = "get" then told else told @ List.filter (fun (n, _) -> not (List.mem_assoc n told)) asked in
      readable (match List.assoc_opt "key" told with Some k' -> equal k' k | None -> true) "an answer about another key";
      readable (op.f <> "get" || List.exists (fun n -> List.mem_assoc n told) [ "value"; "found"; "succeeded" ]) "a get without its :value";
      let other = (not (is_nil (find x "value"))) && not (equal (find x "value") (find asked "value")) in
      readable (not other || (op.f <> "delete" && (op.f <> "cas" || is_list (find x "value")))) "the answer of this operation";
      (* a value that is whole, though it looks like an answer *)
      readable (op.f = "get" || not (List.mem_assoc "value" told && List.length told = 1 && is_map value && equal (find told "value") value)
                || (is_nil (field value "succeeded") && is_nil (field value "found"))) "an answer beside what is none";
      x end
    else asked in
  let has n = List.mem_assoc n x in
  readable (op.f <> "cas" || (not (has "expected" && has "old") && has "new" = (has "expected" || has "old") && not (has "new" && is_list (find x "value")))) "a cas of two kinds";
  let v = find x "value" in
  let answer = match List.assoc_opt "succeeded" x with Some a -> a | None -> find x "found" in
  let refused = find x "succeeded" = no in
  readable (List.for_all (fun n -> match find x n with Nil | Bool _ -> true | _ -> false) [ "succeeded"; "found" ]) "an answer that is neither true nor false";
  readable (not refused || List.mem op.f [ "cas"; "put-if-absent"; "get" ] || not (is_map value)) "an update that did not succeed";
  readable (lost || not (List.mem op.f [ "put"; "put-if-absent" ]) || not (is_nil v) || is_nil (find asked "value")) "a put of nothing";
  if op.f = "get" && is_map value then readable (answer <> no || v = Nil || v = Str "") "nothing, with a value";
  readable (op.f <> "get" || lost || answer <> yes || List.mem_assoc "value" x) "a get without its :value";
  let answer = if op.f = "delete" then (match List.assoc_opt "found" x with Some a -> a | None -> answer) else answer in
  k, match op.f with
  | "get" -> if lost then Nothing else Get (if answer = no then Nil else v)
  | "delete" -> if answer = no then Get Nil else if answer = yes then Erase else Put Nil
  | "cas" | "put-if-absent" ->
    let old, fresh =
      if op.f <> "cas" then Nil, v
      else if List.mem_assoc "new" x then (match List.assoc_opt "expected" x with Some e -> e | None -> find x "old"), find x "new"
      else match v with List { items = [ a; b ]; _ } -> a, b | _ -> fail "a cas of something else than a pair" in
    if op.status = Fail || answer = no then Failed old else Cas (old, fresh)
  | "put" -> Put v
  | _ -> readable (match v with Str _ -> true | _ -> false) "an append of something other than a string"; Append v

let kv g =
  let start = match init g with Some v -> pairs v | None -> [] in
  let all = List.map (fun op -> (op, kv_read g op)) (List.filter (fun op -> op.status <> Fail || (op.f = "cas" && param g "failed-cas" = Some "observe")) (Array.to_list g.ops)) in
  let table = Hashtbl.create 1000 in
  List.iter (fun (op, o) -> Hashtbl.replace table op.number o) all;
  let appends = List.exists (fun (_, (_, o)) -> match o with Append _ -> true | _ -> false) all in
  let values o = match o with Get v | Failed v | Put v | Append v -> [ v ] | Cas (a, b) -> [ a; b ] | Erase | Nothing -> [] in
  let stringy v = match v with Nil | Str _ -> true | _ -> false in
  if appends then
    readable (List.for_all (fun (_, (_, o)) -> List.for_all stringy (values o)) all && List.for_all (fun (_, v) -> stringy v) start) "appends beside something other than strings";
  let gets = List.filter_map (fun (op, (_, o)) -> match o with Get v when op.f = "get" -> Some v | _ -> None) all in
  if appends then begin
    let letters = Array.init 256 (fun i -> pos (i + 1)) in
    let bytes v = match v with Str s -> String.fold_left (fun last c -> letters.(Char.code c) :: last) [] s | _ -> [] in
    let call op =
      let k, o = Hashtbl.find table op.number in
      let k = intern k in
      match o with
      | Nothing -> []
      | Get v -> P.read k (bytes v) | Failed v -> P.refused k (bytes v) | Erase -> P.erase k [] | Put v -> P.write k (bytes v)
      | Append v -> P.append0 k (bytes v)
      | Cas (a, b) -> P.cas (=) k (bytes a) (bytes b) in
    registers (P.kv_of_strings [] (List.map (fun (k, v) -> (intern k, bytes v)) start)) call
  end else begin
    let empty_is_nil = List.exists (fun v -> v = Str "") gets && not (List.exists is_nil gets) in
    let value v = if empty_is_nil && is_nil v then intern (Str "") else intern v in
    let nothing = value Nil in
    let call op =
      let k, o = Hashtbl.find table op.number in
      let k = intern k in
      match o with
      | Nothing | Append _ -> []
      | Get v -> P.read k (value v) | Failed v -> P.refused k (value v) | Erase -> P.erase k nothing | Put v -> P.write k (value v)
      | Cas (a, b) -> P.cas (=) k (value a) (value b) in
    registers (P.register nothing (List.map (fun (k, v) -> (intern k, value v)) start)) call
  end

let option_int v = if is_nil v then None else if whole v then Some (z (int_of v)) else fail "what is not a number"
(* An offset or an epoch. *)
let index v = whole v && int_of v >= 0 && int_of v < 1 lsl 30

let versioned g =
  let start = match init g with
    | Some (List { items = [ Int n; v ]; _ }) when n >= 0 && n <= 1 lsl 30 -> (z n, intern v)
    | Some _ -> reject "a register that cannot begin with such a value"
    | None -> (P.Z0, nil) in
  let call op =
    if op.f = "read" && is_nil op.value then P.Versioned.Read (None, None)
    else begin
      let version, value = match listed op.value with [ n; v ] -> n, v | _ -> fail "what is not a pair" in
      readable (is_nil version || (whole version && int_of version >= 0)) "a version that is not a number";
      match op.f with
      | "read" when op.status <> Ok -> P.Versioned.Read (None, None)
      | "read" -> P.Versioned.Read (option_int version, if is_nil value then None else Some (intern value))
      | "write" -> P.Versioned.Write (option_int version, intern value)
      | _ -> (match listed value with [ a; b ] -> P.Versioned.Cas (option_int version, intern a, intern b) | _ -> fail "a cas that is not a pair")
    end in
  Meaning (P.versioned_register start, call, Patterns.pair "versioned_pattern_sound" (P.versioned_proposal start))

(* Who an operation of a lock is by: the process, the thread, or the client that is named last, or else next. *)
let owners g =
  let place op = match param g "threads" with
    | Some n -> let n = int_of_string n in let p = int_of op.process in Int (((p mod n) + n) mod n)
    | None -> op.process in
  let found = Hashtbl.create 100 in
  let pass ops =
    let named = Hashtbl.create 10 in
    List.iter (fun op ->
        let p = canonical (place op) in
        let client = if op.status = Ok then field op.value "client" else Nil in
        if not (is_nil client) then Hashtbl.replace named p client;
        if not (Hashtbl.mem found op.number) then match Hashtbl.find_opt named p with
          | Some c -> Hashtbl.replace found op.number (Tagged ("client", c))
          | None -> ()) ops in
  pass (every g);
  pass (List.rev (every g));
  fun op -> intern (match Hashtbl.find_opt found op.number with Some c -> c | None -> place op)
let plain_lock op = readable (not (is_map op.value) || silent op.value) "a field that locks do not know"
let owned limit g =
  let owner = owners g and many = param g "permits" <> None in
  let call op =
    plain_lock op;
    let n = if many then permits op else 1 in
    { P.Owned.owner = owner op; change = z (if op.f = "acquire" then n else -n) } in
  let limit = limit g in
  Meaning (P.owned limit, call, Patterns.owned limit)
let most name default g = P.Owned.Most (z (match name with Some name -> number g name default | None -> default))
let fenced name g =
  let owner = owners g in
  let call op =
    plain_lock op;
    readable (op.f <> "acquire" || equal op.value op.given || silent op.value) "an answer that may be a fence";
    let fence = field op.value "fence" in
    readable (is_nil fence || int_of fence >= 0) "a fence that is less than 0";
    if op.f = "acquire" then P.Fenced.Acquire (owner op, z (if is_nil fence then 0 else int_of fence)) else P.Fenced.Release (owner op) in
  let most = z (match name with Some name -> number g name 2 | None -> 1) in
  Meaning (P.fenced most, call, Patterns.fenced most)

(* What the keywords that name accounts in reads stand for. Reads may also have balances by place. *)
let spelled_number s = match int_of_string_opt s with Some n when string_of_int n = s -> Some n | _ -> None
let named g k = match k, param g "accounts" with
  | Key s, Some "numbers" -> (match spelled_number s with Some n -> Int n | None -> readable (String.length s < 18) "an account of so large a number"; k)
  | Key s, Some "strings" -> Str s
  | _ -> k
let balances g v =
  let kvs = if is_list v then List.mapi (fun i n -> (Int i, n)) (listed v) else List.map (fun (k, n) -> (named g k, n)) (pairs v) in
  let names = List.sort_uniq compare (List.map (fun (k, _) -> canonical k) kvs) in
  readable (List.length names = List.length kvs) "an account of two names";
  kvs
let check_accounts g =
  let is_key v = match v with Key _ -> true | _ -> false in
  let ops = every g in
  let reads = List.filter_map (fun op -> if op.f = "read" && op.status = Ok then Some op.value else None) ops in
  let ends = List.concat_map (fun op -> if op.f = "transfer" then [ field op.value "from"; field op.value "to" ] else []) ops in
  let all = match init g with Some v -> v :: reads | None -> reads in
  let maps = List.concat_map (fun v -> if is_map v then List.map fst (pairs v) else []) all in
  let keys, rest = List.partition is_key maps in
  let others = ends @ rest in
  if keys <> [] && others <> [] && param g "accounts" = None then begin
    readable (not (List.for_all (fun v -> match v with Str _ -> true | _ -> false) others)) "keywords that are strings";
    let is_number v = match v with Key s -> spelled_number s <> None | _ -> false in
    readable (not (List.for_all whole others && List.for_all is_number keys)) "keywords that are numbers"
  end;
  List.iter (fun v -> if is_list v then
      let n = List.length (listed v) in
      List.iter (fun k -> readable (match k with Int i -> 0 <= i && i < n | _ -> false) "a transfer of an account that has no place") ends) reads
let bank g =
  check_accounts g;
  let accounts kvs = List.map (fun (k, n) -> readable (whole n) "a balance that is not a number"; (intern k, z (int_of n))) kvs in
  let call op =
    if op.f = "read" then (if op.status = Ok && not (is_nil op.value) then P.Bank.Read (accounts (balances g op.value)) else P.Bank.Nothing)
    else begin
      let amount = int_of (field op.value "amount") in
      readable (amount >= 0 && amount <= 0x7fffffff) "a transfer of less than nothing, or of so much";
      readable (not (is_nil (field op.value "from") || is_nil (field op.value "to"))) "a transfer from or to no account";
      P.Bank.Transfer (intern (field op.value "from"), intern (field op.value "to"), z amount) end in
  Meaning (P.bank (param g "negative-balances" = Some "allow") (match init g with Some v -> readable (is_map v) "an initial value that is not a map of balances"; accounts (balances g v) | None -> []), call, Patterns.balances)

let log g =
  let items = match init g with Some (List { items; _ }) -> items | Some _ -> reject "a log that cannot begin with such a value" | None -> [] in
  readable (not (List.exists is_nil items)) "a log that begins with nothing in it";
  let within v = field v (if has_field v "msg" then "msg" else "value") in
  let offset v = readable (index v) "what is not an offset"; z (int_of v) in
  let known v = match v with Map kvs -> List.for_all (fun (k, _) -> List.mem k [ Key "offset"; Key "msg"; Key "value"; Key "match-seq-num" ]) kvs | _ -> true in
  let call op =
    if op.f = "append" then begin
      let expected = field op.given "match-seq-num" in
      let v = if is_nil expected then op.given else within op.given in
      readable (not (is_nil v)) "an append of nothing";
      readable (not (is_nil expected && has_field op.given "match-seq-num")) "a :match-seq-num that is nil";
      readable (is_nil expected || index expected) "what is not an offset";
      let at =
        if op.status = Ok && not (is_nil op.value) then begin
          let at, back = if is_map op.value then field op.value "offset", within op.value else op.value, v in
          let tells = (is_nil at || index at) && (equal back v || (is_nil back && not (is_nil at))) in
          readable ((tells && known op.value) || equal op.value op.given) "an answer that is no offset";
          if tells && told g then at else Nil end
        else Nil in
      P.Log.Append (intern v, option_int at, option_int expected) end
    else if op.status <> Ok || (op.f = "read" && is_nil op.value) then P.Log.Nothing
    else match op.f with
      | "tail" -> P.Log.Tail (offset op.value)
      | "read" -> P.Log.ReadAll (List.map intern (if is_list op.value then listed op.value else fail "what was read of a log"))
      | _ ->
        let at = field op.value "offset" in
        readable (not (is_nil at && has_field op.value "offset")) "an :offset that is nil";
        let asked = let o = field op.given "offset" in if is_nil o then op.given else o in
        readable (is_nil at || ((is_nil asked || equal asked at) && known op.value)) "an answer about another offset";
        if is_nil at then P.Log.ReadAt (offset asked, intern op.value) else P.Log.ReadAt (offset at, intern (within op.value)) in
  let items = List.map intern items in
  Meaning (P.log nil items, call, Patterns.pair "log_pattern_sound" (P.log_proposal nil (P.appended items)))

let lease g =
  let term v =
    let who, epoch = match v with
      | List { items = [ a; b ]; _ } -> a, b
      | Map kvs when kvs <> [] && List.for_all (fun (k, _) -> k = Key "owner" || k = Key "epoch") kvs -> field v "owner", field v "epoch"
      | List _ | Row _ | Map _ -> fail "what is not a term"
      | _ -> v, Nil in
    readable (is_nil epoch || index epoch) "what is not an epoch";
    who, epoch in
  let start = match init g with
    | None | Some (List { items = [ Nil; Nil ]; round = false }) -> { P.Lease.holder = None; current = z (-1); exact = true }
    | Some v ->
      let owner, epoch = term v in
      check (whole epoch) "a lease that cannot begin with such a value";
      { P.Lease.holder = (if is_nil owner then None else Some (intern owner)); current = z (int_of epoch); exact = true } in
  let call op =
    if op.f = "check" then begin
      if op.status <> Ok then P.Lease.Nothing
      else let owner, epoch = term op.value in
        P.Lease.Renew ((if is_nil owner then None else Some (intern owner)), option_int epoch) end
    else begin
      let terms = List.map term (op.given :: List.filter (fun v -> not (is_nil v || v = yes)) [ op.value ]) in
      let distinct vs = List.sort_uniq compare (List.map canonical (List.filter (fun v -> not (is_nil v)) vs)) in
      let owner = List.find_opt (fun v -> not (is_nil v)) (List.map fst terms) and epoch = List.find_opt (fun v -> not (is_nil v)) (List.map snd terms) in
      readable (List.length (distinct (List.map fst terms)) = 1 && owner <> Some yes && owner <> Some no && List.length (distinct (List.map snd terms)) < 2) "an update of no owner or epoch, or of two";
      let owner = intern (Option.get owner) and epoch = match epoch with Some e -> option_int e | None -> None in
      match op.f with
      | "claim" -> P.Lease.Claim (owner, epoch)
      | "renew" -> P.Lease.Renew (Some owner, epoch)
      | _ -> P.Lease.Release (owner, epoch)
    end in
  Meaning (P.lease start, call, Patterns.pair "lease_pattern_sound" (P.lease_proposal start))

type longest = { mutable elements : int array; mutable lists : P.positive list array; mutable length : int }
let list_append g =
  let begins v = match v with
    | List { items; _ } when let all = List.map number_of items in List.compare_lengths all (List.sort_uniq compare all) = 0 -> List.rev (List.map intern items)
    | _ -> reject "lists that cannot begin with such a value" in
  let start = match init g with Some v -> List.map (fun (k, v) -> (intern k, begins v)) (pairs v) | None -> [] in
  (* What was read, from the last element to the first, of the longest list of this key so far: how it begins, and what ends there. *)
  let longest = Hashtbl.create 100 in
  let read k v =
    let k = number_of k in
    let known = match Hashtbl.find_opt longest k with Some known -> known | None -> let fresh = { elements = [||]; lists = [||]; length = 0 } in Hashtbl.add longest k fresh; fresh in
    let n = ref 0 and same = ref true in
    each_number (fun v ->
        if !same && not (!n < known.length && known.elements.(!n) = v) then (same := false; known.length <- !n);
        if not !same then begin
          if !n = Array.length known.elements then begin
            known.elements <- Array.append known.elements (Array.make (!n + 10) 0);
            known.lists <- Array.append known.lists (Array.make (!n + 10) []) end;
          known.elements.(!n) <- v;
          known.lists.(!n) <- pos v :: (if !n = 0 then [] else known.lists.(!n - 1));
          known.length <- !n + 1 end;
        incr n) v;
    if !n = 0 then [] else known.lists.(!n - 1) in
  let step v = match listed v with [ Key (("r" | "append") as f); k; v ] -> f, k, v | _ -> fail "a step that neither reads nor appends" in
  let call op =
    let steps = List.map step (if is_nil op.value then [] else listed op.value) in
    if op.status = Ok && not (is_nil op.given) then begin
      let called = List.map step (listed op.given) in
      check (List.length called = List.length steps && List.for_all2 (fun (f, k, v) (f', k', v') -> f = f' && equal k k' && (f = "r" || equal v v')) called steps)
        "a completion with other steps than its invocation" end;
    List.filter_map (fun (f, k, v) ->
        if f = "append" then Some (P.Lists.Append (intern k, intern v))
        else if op.status = Ok then Some (P.Lists.Read (intern k, match v with Nil -> [] | v when is_list v -> read k v | _ -> fail "what was read of a list"))
        else None) steps in
  Transactional (P.list_append start, call, Patterns.pair "list_cycle_sound" (P.list_proposal start), Cycles.nodes start)

(* Each model: the :f's that it knows, its parameters (an exclamation mark after those that it needs), and its meaning. *)
let models = [
  "register", ("read write", "init nil-reads", register);
  "cas-register", ("read write cas", "init nil-reads failed-cas", register);
  "multi-register", ("txn read write", "init nil-reads", multi_register);
  "kv", ("get put append delete cas put-if-absent", "init failed-cas kv-keys", kv);
  "lookup-set", ("insert add remove delete contains lookup", "init", lookup_set);
  "fifo-queue", ("enqueue dequeue peek drain", "init", fun g -> container g fifo P.Fifo);
  "stack", ("push pop peek", "init", fun g -> container g P.stack P.Stack);
  "unordered-queue", ("enqueue dequeue drain", "init", fun g -> container g unordered P.Bag);
  "priority-queue", ("enqueue insert dequeue poll peek", "init priority", fun g -> let rank = ranks g in container g (P.priority_queue rank) (P.Priority rank));
  "set", ("add read", "init", growing_set);
  "mutex", ("acquire release", "", semaphore);
  "semaphore", ("acquire release", "permits!", semaphore);
  "counting-semaphore", ("incr decr", "", counting_semaphore);
  "counter", ("add read incr increment decr decrement add-and-get", "init answers", counter);
  "id-generator", ("generate take", "ids", id_generator);
  "versioned-register", ("read write cas", "init", versioned);
  "owner-mutex", ("acquire release", "threads", owned (most None 1));
  "reentrant-mutex", ("acquire release", "max-holds threads", owned (most (Some "max-holds") 2));
  "owner-semaphore", ("acquire release", "permits! threads", owned (fun g -> P.Owned.Permits (z (number g "permits" 1))));
  "fenced-mutex", ("acquire release", "threads", fenced None);
  "reentrant-fenced-mutex", ("acquire release", "max-holds threads", fenced (Some "max-holds"));
  "bank", ("transfer read", "init negative-balances accounts", bank);
  "log", ("append read-at tail read", "init answers", log);
  "lease", ("claim renew release check", "init", lease);
  "list-append", ("txn", "init", list_append);
]
let count s = s <> "" && s.[0] <> '0' && String.length s <= 10 && String.for_all (fun c -> c >= '0' && c <= '9') s && int_of_string s <= 1_099_999_999
let parameter name value = match name with
  | "init" -> value <> ""
  | "semantics" -> List.mem value [ "jepsen"; "knossos" ]
  | "nil-reads" -> List.mem value [ "any"; "exact" ]
  | "failed-cas" -> List.mem value [ "ignore"; "observe" ]
  | "priority" -> List.mem value [ "max"; "min" ]
  | "permits" | "max-holds" | "threads" -> count value
  | "ids" -> List.mem value [ "distinct"; "growing" ]
  | "negative-balances" -> List.mem value [ "refuse"; "allow" ]
  | "answers" -> List.mem value [ "told"; "echo" ]
  | "kv-keys" -> List.mem value [ "pairs"; "none" ]
  | "accounts" -> List.mem value [ "as-written"; "numbers"; "strings" ]
  | _ -> false
let words s = List.filter (fun w -> w <> "") (String.split_on_char ' ' s)
let check_parameters model (_, takes, _) given =
  let takes = "semantics" :: words takes in
  let needed w = w.[String.length w - 1] = '!' in
  let plain w = if needed w then String.sub w 0 (String.length w - 1) else w in
  List.iter (fun w -> check (not (needed w) || List.mem_assoc (plain w) given) "the model %s needs %s" model (plain w)) takes;
  List.iter (fun (name, value) ->
      check (List.exists (fun w -> plain w = name) takes) "the model %s has no parameter %s" model name;
      check (parameter name value) "%s is %s" name value) given
