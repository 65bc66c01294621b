(* clew-proof HISTORY CERTIFICATE ..: proved, rejected, or not checked. *)

open Lists

open History
module P = Proved

let rest_of channel =
  let b = Buffer.create (1 lsl 20) in
  let chunk = Bytes.create 65536 in
  let rec fill () = let n = input channel chunk 0 65536 in if n > 0 then (Buffer.add_subbytes b chunk 0 n; fill ()) in
  fill ();
  Buffer.contents b
let read_file name =
  if name = "-" then (set_binary_mode_in stdin true; rest_of stdin) else begin
  if Sys.file_exists name && Sys.is_directory name then raise (Sys_error (name ^ ": it is a directory"));
  let channel = open_in_bin name in
  Fun.protect ~finally:(fun () -> close_in channel) (fun () ->
      if (Unix.fstat (Unix.descr_of_in_channel channel)).st_kind = S_REG then really_input_string channel (in_channel_length channel)
      else rest_of channel) end
let why reason = match reason with
  | P.Unsorted -> "the operations are not in order"
  | P.NotOfHistory -> "the order has an operation that is not of this part of the history"
  | P.Twice -> "an operation stands in the order twice"
  | P.TooLate -> "an operation had returned before one began that stands before it"
  | P.Impossible -> "an operation cannot happen where it stands in the order"
  | P.Missing -> "an operation that returned is not in the order"
  | P.NoCore -> "the core is not one of operations"
  | P.NotClosed -> "the search for a linearization of the core is not complete"
  | P.Survives -> "the core has a linearization"
  | P.NotAlone -> "an operation outside of the core may matter to it"
  | P.NoPattern -> "the operations do not form a pattern"
  | P.NoCycle -> "nothing shows that an operation comes before the next one of its cycle"
(* An operation by its number, and where it is in the history. *)
let named op = Printf.sprintf "operation %d, :index %d%s" op.number op.first (match op.last with Some n -> Printf.sprintf " and %d" n | None -> "")
let judge ?(why = why) ops verdict = match verdict with
  | P.Accepted -> ()
  | P.Rejected (reason, i) ->
    let at = Numbers.int_of_pos i in
    let where = Array.fold_left (fun found op -> if op.inv = at then Printf.sprintf " (%s)" (named op) else found) "" ops in
    reject "%s%s" (why reason) where

let another_form fmt = Printf.ksprintf (fun s -> reject "a certificate of another form: %s" s) fmt

(* The fields of a line: those that it must have, and those that it may have. *)
let fields json must may = match json with
  | Json.Object kvs ->
    List.iter (fun f -> if not (List.mem_assoc f kvs) then another_form "%S is missing" f) must;
    List.iter (fun (k, _) -> if not (List.mem k must || List.mem k may) then another_form "%S is unknown here" k) kvs;
    fun name -> List.assoc_opt name kvs
  | _ -> another_form "it is not an object"
let ints line name = match line name with Some (Json.Ints xs) -> xs | _ -> another_form "%S is not a list of operations" name

(* The operations of an anomaly, and whether they are a cycle, in order. They are all that the proof needs: which steps lead from one to the next is found out. *)
let steps = [ "ww"; "wr"; "rw"; "process"; "realtime" ]
let contradicting by_number line =
  let op v = match v with
    | Some (Json.Ints xs) when xs <> [||] -> (match by_number xs.(0) with Some op -> op | None -> reject "operation %d is not in this part of the history" xs.(0))
    | _ -> another_form "an operation is not one number, or several" in
  match line "cycle", line "at" with
  | None, Some (Json.List at) -> false, List.map (fun m -> op (Some m)) at
  | Some (Json.List cycle), None ->
    let ends = List.map (fun s ->
        let step = fields s [ "type"; "from"; "to" ] [] in
        check (match step "type" with Some (Json.String t) -> List.mem t steps | _ -> false) "a step of the cycle has another type than ww, wr, rw, process and realtime";
        op (step "from"), op (step "to")) cycle in
    let from, until = List.split ends in
    check (List.for_all2 (==) until (List.tl from @ [ List.hd from ])) "the steps are not a cycle";
    true, from
  | _ -> another_form "neither \"cycle\" nor \"at\" has operations, or both do"

(* A verdict, and the theorem that carries it. *)
type carried = Valid | Invalid of string
let theorem carried = match carried with Valid -> "check_valid_sound" | Invalid name -> name

let judged (type call est claim) g (d : (call, est, claim) P.data_type) call (propose : (call, claim) Patterns.propose) cycle line =
  let ops = g.Meaning.ops in
  let rec within n from until =
    if from >= until then None
    else let middle = (from + until) / 2 in
      let m = ops.(middle).number in
      if m = n then Some ops.(middle) else if m < n then within n (middle + 1) until else within n from middle in
  let by_number n = if n >= 0 && n < Array.length ops && ops.(n).number = n then Some ops.(n) else within n 0 (Array.length ops) in
  let observed op = op.status = Fail && op.f = "cas" && Meaning.param g "failed-cas" = Some "observe" in
  let happened = List.filter (fun op -> op.status <> Fail || observed op) (Array.to_list ops) in
  let history = List.rev (List.rev_map (fun op ->
      { P.inv = Numbers.pos op.inv; what = call op; became = (if op.ret < max_int then P.Returned (Numbers.pos op.ret, ()) else P.Crashed) }) happened) in
  let ids xs = List.rev (List.rev_map (fun n -> match by_number n with
      | Some op -> Numbers.pos op.inv
      | None -> reject "operation %d is not in this part of the history" n) (Array.to_list xs)) in
  let verdict ?why ?(required = fun _ -> true) certificate = judge ?why ops (P.judge d (Search.proposals d.P.program required) history certificate) in
  List.iter (fun name -> match line name with None | Some (Json.String _) -> () | _ -> reject "a certificate of another form: %S is not text" name) [ "analyzer"; "pattern"; "explanation" ];
  (match line "named" with
   | None | Some (Json.Ints [||]) -> ()
   | Some (Json.List named) ->
     List.iter (fun x ->
         let named = fields x [ "operation"; "invocation"; "completion" ] [] in
         let op = match named "operation" with Some (Json.Int n) -> by_number n | _ -> None in
         let is op = named "invocation" = Some (Json.Int op.first) && named "completion" = Some (match op.last with Some n -> Json.Int n | None -> Json.Null) in
         check (match op with Some op -> is op | None -> false) "an operation that is named is another one") named
   | _ -> another_form "\"named\" is not a list of objects");
  match line "valid" with
  | Some (Json.Bool true) -> verdict (P.Order (ids (ints line "order"))); Valid
  | _ when line "anomaly" <> None ->
    (* Transactions that are not strictly serializable have no linearization at all. *)
    let in_order, named = contradicting by_number line in
    let found = List.filter_map (fun op -> List.find_opt (fun o -> Numbers.int_of_pos o.P.inv = op.inv) history) named in
    check (not in_order || List.compare_lengths found named = 0) "an operation of the cycle has failed";
    let why = function P.NoCycle when not in_order -> "nothing shows that an operation of the anomaly cannot occur" | reason -> why reason in
    verdict ~why (P.Anomaly ((Option.get cycle) history in_order found));
    Invalid "list_cycle_sound"
  | _ ->
    let fails = match line "fails" with Some (Json.Int n) -> n | _ -> another_form "\"fails\" is not an operation" in
    let failing = match by_number fails with Some op -> op | None -> reject "the operation that fails is not in this part of the history" in
    check (failing.ret < max_int && (failing.status = Ok || observed failing)) "the operation that fails has not returned";
    let core = ints line "core" in
    check (Array.exists (fun n -> n = fails) core) "the core lacks the operation that fails";
    let once = Hashtbl.create 100 in
    Array.iter (fun n ->
        let op = match by_number n with Some op -> op | None -> reject "operation %d is not in this part of the history" n in
        check (not (Hashtbl.mem once op.inv)) "the core names operation %d twice" n;
        Hashtbl.replace once op.inv ()) core;
    let time = Numbers.pos failing.ret and before = ids (ints line "before") in
    let part = P.begun_by time history in
    let had = List.filter (fun o -> Hashtbl.mem once (Numbers.int_of_pos o.P.inv) && P.ret o <> None) part in
    let proposed = match List.find_opt (fun o -> o.P.inv = Numbers.pos failing.inv) part with Some last -> propose part last had | None -> [] in
    match List.find_opt (fun (_, claim) -> d.P.refute claim part = P.Accepted) proposed with
    | Some (name, claim) -> verdict (P.Pattern (time, before, claim)); Invalid name
    | None ->
      let returns = Hashtbl.create 1000 in
      List.iter (fun op -> if op.ret <= failing.ret then Hashtbl.replace returns op.inv ()) happened;
      let required i = Hashtbl.mem returns (Numbers.int_of_pos i) in
      verdict ~required (P.Core (time, before, ids core));
      Invalid "check_invalid_sound"

let section g (_, _, meaning) line = match meaning g with
  | Meaning.Meaning (d, call, propose) -> judged g d call propose None line
  | Meaning.Transactional (d, call, propose, cycle) -> judged g d call propose (Some cycle) line

(* Whatever takes long, after so many seconds of processor time, and one more for each megabyte of the history, it is too much. *)
exception Too_long
let patience = 40.0
let wait seconds = ignore (Unix.setitimer Unix.ITIMER_PROF { Unix.it_interval = 0.0; it_value = seconds })

(* What is printed has neither comments, nor discarded forms, nor characters that end a line or are not seen, which might be mistaken for something else. *)
let unseen text i = match text.[i] with
  | '\000' .. '\031' | '\127' -> true
  | '\xc2' -> i + 1 < String.length text && text.[i + 1] < '\xa1'  (* U+0080 to U+00A0 *)
  | '\xe2' -> i + 2 < String.length text && (match text.[i + 1], text.[i + 2] with  (* spaces, ends of lines and directions from U+2000 to U+206F *)
      | '\x80', ('\x80' .. '\x8f' | '\xa8' .. '\xaf') | '\x81', '\x9f' .. '\xaf' -> true
      | _ -> false)
  | _ -> false
let plain text =
  String.iteri (fun i _ -> if unseen text i then Edn.fail "a key or a parameter with a character that is not seen") text;
  let rec outside i = i >= String.length text || match text.[i] with
    | '"' -> inside (i + 1)
    | '\\' -> outside (i + 2)
    | ';' -> false
    | '#' when i + 1 < String.length text && text.[i + 1] = '_' -> false
    | _ -> outside (i + 1)
  and inside i = i >= String.length text || match text.[i] with '"' -> outside (i + 1) | '\\' -> inside (i + 2) | _ -> inside (i + 1) in
  check (outside 0) "a key or a value with a comment, or a form that is discarded"

(* Other forms of histories are refused by their names. *)
let check_edn text =
  let begins_with s = String.length text >= String.length s && String.sub text 0 (String.length s) = s in
  if begins_with "\x28\xb5\x2f\xfd" then Edn.fail "zstd; unpack it first";
  let rec json i = i < String.length text && (match text.[i] with ' ' | '\t' | '\r' | '\n' | '[' -> json (i + 1) | '{' -> i + 1 < String.length text && text.[i + 1] = '"' | _ -> false) in
  if json 0 then Edn.fail "JSON; clew convert --to edn makes EDN of it"

(* The same bytes are hashed and unpacked, whatever becomes of the file. *)
let each_form raw each =
  if String.length raw > 2 && raw.[0] = '\x1f' && raw.[1] = '\x8b' then begin
    let name = Filename.temp_file "clew-proof" ".gz" in
    Fun.protect ~finally:(fun () -> Sys.remove name) (fun () ->
        let packed = open_out_bin name in
        output_string packed raw; close_out packed;
        let out = try Unix.open_process_args_in "gzip" [| "gzip"; "-dc"; name |] with Unix.Unix_error _ -> Edn.fail "a .gz: there is no gzip" in
        (* What a broken .gz holds is not judged. *)
        let ended = ref None in
        let close () = match !ended with Some ended -> ended | None -> let e = Unix.close_process_in out in ended := Some e; e in
        let piece n =
          let b = Bytes.create n in
          let rec fill at = if at = n then n else match input out b at (n - at) with 0 -> at | more -> fill (at + more) in
          let got = fill 0 in
          if got = 0 && close () <> Unix.WEXITED 0 then Edn.fail "this .gz";
          Bytes.sub_string b 0 got in
        Fun.protect ~finally:(fun () -> ignore (close ())) (fun () -> Edn.forms_of_pieces piece check_edn each)) end
  else begin
    check_edn raw;
    ignore (Edn.forms raw each) end

let prove history certificate =
  let raw = read_file history in
  wait (patience +. (float_of_int (String.length raw) /. 1e6));
  let lines = List.filter (fun l -> l <> "") (String.split_on_char '\n' (read_file certificate)) in
  let parse i l = try Json.parse l with Json.Bad -> reject "line %d of the certificate is not JSON as clew writes it" i in
  let head, sections = match lines with l :: rest -> parse 1 l, rest | [] -> reject "the certificate is empty" in
  (match head with
   | Json.Object kvs when List.assoc_opt "clew-certificate" kvs <> Some (Json.Int 1) -> reject "a certificate of another version than 1"
   | _ -> ());
  let head = fields head [ "clew-certificate"; "operations"; "model"; "parameters"; "independent"; "clients"; "valid" ] [ "sha256"; "keyless"; "consistency" ] in
  let text name = match head name with Some (Json.String s) -> s | _ -> another_form "%S is not text" name in
  let flag name = match head name with Some (Json.Bool b) -> b | _ -> another_form "%S is neither true nor false" name in
  let model = text "model" and clients = text "clients" and independent = flag "independent" and claim = flag "valid" in
  let keyless = head "keyless" <> None in
  if not (List.mem clients [ "integers"; "all" ]) then another_form "\"clients\" is neither \"integers\" nor \"all\"";
  if keyless && not (independent && flag "keyless") then another_form "\"keyless\" is only said of independent keys";
  if head "sha256" <> None then check (text "sha256" = Sha256.hex raw) "the certificate was made from another file (its SHA-256 differs)";
  let parameters = match head "parameters" with
    | Some (Json.Object kvs) -> List.map (fun (k, v) -> match v with Json.String s -> plain s; (k, s) | _ -> another_form "the parameter %S is not text" k) kvs
    | _ -> another_form "\"parameters\" is not an object" in
  let level = head "consistency" in
  if not (level = None || (level = Some (Json.String "strict-serializable") && model = "list-append" && not independent)) then
    failwith "of levels of consistency it checks only strict-serializable, of a list-append without independent keys";
  let known = match List.assoc_opt model Meaning.models with Some m -> m | None -> Edn.fail "the model %s" model in
  Meaning.check_parameters model known parameters;
  let (fs, _, _) = known in
  let fs = Meaning.words fs in
  let ops = operations (each_form raw) (clients = "all") fs in
  Numbers.reserve (2 * Array.length ops + 1);
  check (head "operations" = Some (Json.Int (Array.length ops))) "the history has another number of operations";
  Array.iter (fun op -> check (op.status = Fail || List.mem op.f fs) "the model %s has no :%s" model op.f) ops;
  readable (model = "kv" || Array.for_all (fun op -> Edn.equal op.key ops.(0).key) ops) "operations with different keys, as the model has none";
  let parts = if independent then by_key ops keyless else [ ("", ops) ] in
  let parts = List.map (fun (k, ops) -> (k, { Meaning.p = parameters; ops })) parts in
  let table = Hashtbl.create 100 and seen = Hashtbl.create 100 and carried = ref Valid and fail = ref [] in  (* theorems and failures, with their times *)
  List.iter (fun (k, g) -> Hashtbl.replace table k g) parts;
  List.iteri (fun i l ->
      let json = parse (i + 2) l in
      let valid = match json with Json.Object kvs -> List.assoc_opt "valid" kvs = Some (Json.Bool true) | _ -> false in
      let line = if valid then fields json [ "key"; "valid"; "order" ] []
        else if level <> None then fields json [ "key"; "valid"; "anomaly" ] [ "analyzer"; "explanation"; "cycle"; "at" ]
        else fields json [ "key"; "valid"; "fails"; "before"; "core" ] [ "analyzer"; "pattern"; "explanation"; "named" ] in
      (match line "valid" with Some (Json.Bool _) -> () | _ -> another_form "\"valid\" is neither true nor false");
      let key = match line "key" with
        | Some Json.Null when not independent -> ""
        | Some (Json.String s) when independent && s = String.trim s -> plain s; Edn.canonical (Edn.only s)
        | _ -> another_form "\"key\" is not one value of EDN, as it is with independent keys, or not null, as it is without" in
      check (Hashtbl.mem table key && not (Hashtbl.mem seen key)) "there is no such key, or there are two lines about it";
      Hashtbl.replace seen key ();
      let g = Hashtbl.find table key in
      let of_key, of_that = match line "key" with Some (Json.String key) -> "key " ^ key ^ ": ", " of key " ^ key | _ -> "", "" in
      match (try section g known line with Rejected s -> reject "%s%s" of_key s) with
      | Valid -> ()
      | why ->
        carried := why;
        match line "fails" with
        | Some (Json.Int n) -> Array.iter (fun op -> if op.number = n then fail := (op.ret, Printf.sprintf "; the first%s to fail is %s" of_that (named op), why) :: !fail) g.Meaning.ops
        | _ -> ()) sections;
  let failures = List.sort (fun (a, _, _) (b, _, _) -> compare a b) !fail in
  (match failures with (_, _, why) :: _ -> carried := why | [] -> ());
  let failed = !carried <> Valid in
  check (claim = not failed && (failed || Hashtbl.length seen = List.length parts)) "the lines do not add up to the verdict";
  Printf.sprintf "%slinearizable (%s) as %s {%s}, independent: %b, clients: %s%s%s%s%s"
    (if claim then "" else "not ") (theorem !carried) model
    (String.concat ", " (List.map (fun (k, v) -> k ^ ": " ^ v) parameters)) independent clients (if keyless then ", keyless" else "")
    (match failures with
     | [] -> ""
     | [ (_, only, _) ] -> only
     | [ (_, first, _); _ ] -> first ^ "; another key fails, too"
     | (_, first, _) :: others -> Printf.sprintf "%s; %d other keys fail, too" first (List.length others))
    (if Array.length ops = 0 then "; the history has 0 operations" else "")
    (if head "sha256" = None then "; the certificate does not say of which file" else "")

(* What is not seen, and what is not UTF-8, prints as question marks. *)
let one_line s =
  let n = String.length s and b = Buffer.create 100 in
  let goes_on i = i < n && s.[i] >= '\x80' && s.[i] < '\xc0' in
  let rec from i =
    if i < n then begin
      let size = match s.[i] with '\000' .. '\127' -> 1 | '\xc2' .. '\xdf' -> 2 | '\xe0' .. '\xef' -> 3 | '\xf0' .. '\xf4' -> 4 | _ -> 0 in
      let whole = size > 0 && (size < 2 || goes_on (i + 1)) && (size < 3 || goes_on (i + 2)) && (size < 4 || goes_on (i + 3)) in
      Buffer.add_string b (if whole && not (unseen s i) then String.sub s i size else "?");
      from (i + if whole then size else 1) end in
  from 0;
  Buffer.contents b
let help = "

Checks what clew check --certificate CERTIFICATE HISTORY wrote, by a program that is proved in Coq (docs/proof.md).
The history is EDN, plain or .gz; - stands for standard input. Prints a line for each pair:

  proved: linearizable ..       or   proved: not linearizable ..
  rejected: ..                  the certificate does not prove its verdict
  not checked: ..               a model or text that it does not read, or a core that is too hard

A pair that takes more than 40 s of CPU time, and 1 s for each MB of the history, is not checked.

Exit status: 0 all were proved, whichever verdict that is; 1 one was rejected; 2 none was, but one was not checked, or bad arguments."

let () =
  Gc.set { (Gc.get ()) with Gc.minor_heap_size = 1 lsl 22; space_overhead = 400 };
  Sys.set_signal Sys.sigprof (Sys.Signal_handle (fun _ -> raise Too_long));
  let args = List.tl (Array.to_list Sys.argv) in
  let said history certificate =
    try Fun.protect ~finally:(fun () -> wait 0.0) @@ fun () -> 0, "proved: " ^ prove history certificate with
    | Rejected s -> 1, "rejected: " ^ s
    | Edn.Unreadable s -> 2, "not checked: it does not read " ^ s
    | Too_long -> 2, "not checked: it takes too long"
    | Search.Too_hard -> 2, "not checked: the core takes too long to decide; docs/certificate/check.py or more.py may decide it"
    | Sys_error s -> 2, "not checked: " ^ s
    | Stack_overflow | Out_of_memory -> 2, "not checked: too large"
    | Unix.Unix_error (e, _, name) -> 2, "not checked: " ^ name ^ ": " ^ Unix.error_message e
    | Failure s | Invalid_argument s -> 2, "not checked: " ^ s in
  let print certificate line =
    try print_endline (one_line (certificate ^ ": " ^ line)) with Sys_error s -> prerr_endline ("clew-proof: " ^ s); Unix._exit 2 in
  (* Each of several pairs has a process of its own: nothing is left of one that ended within a table, for want of time or memory. *)
  let answered = 10 in
  let answer history certificate =
    let status, line = said history certificate in
    print certificate line;
    status in
  let alone history certificate = match Unix.fork () with
    | 0 -> Unix._exit (answered + answer history certificate)
    | child ->
      match snd (Unix.waitpid [] child) with
      | Unix.WEXITED n when n >= answered -> n - answered
      | _ -> print certificate "not checked: too large"; 2 in
  let rec go worst args = match args with
    | history :: certificate :: rest ->
      let status = alone history certificate in
      go (if status = 1 || (status = 2 && worst = 0) then status else worst) rest
    | _ -> worst in
  let usage = "usage: clew-proof HISTORY CERTIFICATE, or several such pairs" in
  if args = [ "--help" ] || args = [ "-h" ] then (print_endline (usage ^ help); exit 0);
  if args = [ "--version" ] then (print_endline "clew-proof of certificates of version 1"; exit 0);
  if args = [] || List.length args mod 2 = 1 || List.exists (fun a -> String.length a > 2 && String.sub a 0 2 = "--") args then (prerr_endline usage; exit 2);
  exit (match args with [ history; certificate ] -> answer history certificate | _ -> go 0 args)
