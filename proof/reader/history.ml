(* Operations of a history: invocations with their completions, in order. *)

open Lists

open Edn

exception Rejected of string
let reject fmt = Printf.ksprintf (fun s -> raise (Rejected s)) fmt
let unless condition error fmt = if condition then Printf.ikfprintf ignore () fmt else Printf.ksprintf (fun s -> raise (error s)) fmt
let check condition fmt = unless condition (fun s -> Rejected s) fmt
let readable condition fmt = unless condition (fun s -> Unreadable s) fmt

type status = Ok | Fail | Info
type op = {
  number : int;
  f : string;
  process : Edn.t;
  key : Edn.t;
  inv : int;
  first : int;  (* the :index of its invocation, *)
  mutable last : int option;  (* and of its completion, if it has one *)
  mutable given : Edn.t;
  mutable value : Edn.t;
  mutable ret : int;  (* max_int if it did not return *)
  mutable status : status }

let sure v = if certain v then v else fail "a value that may equal one that is spelled differently"

(* Without a :value, an answer may stand under another key, as it may beside a nil. These do not stand for one. *)
let means_nothing = [ "index"; "time"; "process"; "type"; "f"; "key"; "error"; "exception"; "debug"; "node"; "final"; "tstag"; "execute-via"; "op-index" ]
let answers = [ "output"; "out"; "result"; "results"; "res"; "ret"; "return"; "returned"; "response"; "resp"; "reply"; "answer"; "got"; "val" ]
let own_value kvs value ended =
  value <> Nil ||
  let has = List.exists (fun (k, _) -> k = Key "value") kvs in
  List.for_all (fun (k, _) -> match k with
      | Key name -> if has then not (ended && List.mem (String.lowercase_ascii name) answers) else List.mem name means_nothing
      | _ -> has && (match k with Str name -> not (List.mem name ("value" :: answers)) | _ -> true)) kvs

let is_steps v = match v with
  | List { items; _ } -> items <> [] && List.for_all (fun step -> match step with List { items = [ Key ("append" | "r" | "w" | "read" | "write"); _; _ ]; _ } -> true | _ -> false) items
  | _ -> false

let operations each_form every_client knows =
  let ops = ref [] and count = ref 0 and at = ref 1 and place = ref (-1) in
  let running = Texts.create 64 and last = Texts.create 64 in
  let event e =
    let kvs = match e with Map kvs -> kvs | Odd why -> fail "%s" why | _ -> fail "anything but op maps; clew convert --to edn makes them of other forms" in
    incr place;
    let process = ref None and called = ref Nil and kind = ref Nil and value = ref Nil and key = ref Nil and index = ref !place in
    List.iter (fun (k, v) -> match k with
        | Key "process" -> process := Some v
        | Key "f" -> called := v
        | Key "type" -> kind := v
        | Key "value" -> value := v
        | Key "key" -> key := v
        | Key "index" -> (match v with Int n -> index := n | _ -> ())
        | _ -> ()) kvs;
    let process = match !process with Some p -> sure p | None -> fail "an event without a process" in
    let completes_txn () = !value = Nil && (match Texts.find_opt running (canonical process) with Some op -> op.f = "txn" | None -> false) in
    let f = match !called with
      | Key f -> Some f
      | Nil when is_steps !value || completes_txn () -> Some "txn"  (* as Elle takes them *)
      | _ -> None in
    if (match process with Key "nemesis" -> true | _ -> false) || (not every_client && not (whole process) && not (match f with Some f -> List.mem f knows | None -> false)) then ()
    else begin
      check (every_client || whole process) "a process that is not an integer has an operation";
      let kind = match !kind with Key k -> k | _ -> "" in
      let f = match f with Some f -> f | None -> fail "an op without an :f" in
      readable (match kind with "invoke" | "ok" | "fail" | "info" -> true | _ -> false) "an op of :type %s" kind;
      readable (own_value kvs !value (kind = "ok")) "an op that has no :value, but another key that may stand for it";
      incr at;
      let p = canonical process and value = !value in
      if kind = "invoke" then begin
        readable (not (Texts.mem running p)) "a process with two operations at once";
        let op = { number = !count; f; process; key = sure !key; inv = !at; first = !index; last = None; given = sure value; value; ret = max_int; status = Info } in
        incr count;
        ops := op :: !ops;
        Texts.replace running p op;
        Texts.replace last p op
      end else match Texts.find_opt running p with
        | Some op ->
          Texts.remove running p;
          op.last <- Some !index;
          readable (!key = Nil || equal !key op.key) "a completion with another key than its invocation";
          op.status <- (match kind with "ok" -> Ok | "fail" -> Fail | _ -> Info);
          if kind <> "info" then op.ret <- !at;
          if kind = "ok" then op.value <- sure value;
          readable (f = op.f) "an operation :%s that ends as :%s" op.f f
        | None ->
          readable (kind = "info" || (kind = "fail" && (match Texts.find_opt last p with Some op -> op.status = Info | None -> false))) "a completion of no operation"
    end in
  let lists = ref 0 and maps = ref 0 in
  each_form (fun v -> (match bare v with
      | List l -> incr lists; List.iter (fun e -> event (bare e)) l.items
      | v -> incr maps; event v);
      readable (!lists = 0 || (!lists = 1 && !maps = 0)) "more than one list of op maps");
  Array.of_list (List.rev !ops)

(* Independent keys: values are [key value], or [key old new] for a cas. An operation without a key belongs to all. *)
let pair f v = match v with
  | List { items = [ k; v ]; round = false } -> Some (k, v)
  | List { items = k :: (_ :: _ :: [] as rest); round = false } when f = "cas" -> Some (k, List { items = rest; round = false })
  | _ -> None

let by_key ops keyless =
  let keys = Texts.create 64 and names = ref [] and shared = ref [] and lacking = ref false in
  Array.iter (fun op ->
      let a = pair op.f op.value and b = pair op.f op.given in
      (match a, b with Some (k, _), Some (k', _) -> readable (equal k k') "an operation of two keys" | _ -> ());
      if op.status <> Fail && a = None then lacking := true;
      match (if a <> None then a else b) with
      | None -> shared := op :: !shared
      | Some (k, _) ->
        let name = canonical k in
        if not (Texts.mem keys name) then names := name :: !names;
        Texts.replace keys name (op :: (try Texts.find keys name with Not_found -> []));
        (match a with Some (_, v) -> op.value <- v | None -> ());
        (match b with Some (_, v) -> op.given <- v | None -> ())) ops;
  check (!names <> []) "no operation has a key";
  check (keyless || not !lacking) "operations have no key, and the certificate does not say keyless";
  readable (List.length !names * List.length !shared <= 20_000_000) "so many operations without a key, which belong to every key";
  List.map (fun name ->
      let own = Texts.find keys name in
      let copies = List.map (fun op -> { op with number = op.number }) !shared in
      name, Array.of_list (List.sort (fun a b -> compare a.number b.number) (List.rev_append own copies))) !names
