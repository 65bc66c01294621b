(* EDN, as far as its meaning is certain. Vectors and lists are equal, as in Clojure. What may equal something that is spelled
   differently is Odd; a history whose operations have such values is not checked. *)

open Lists

exception Unreadable of string

type t =
  | Nil
  | Bool of bool
  | Int of int
  | Big of string  (* one of more than 17 digits, without leading zeros *)
  | Atom of string  (* anything else whose text is canonical: the kind, then the text *)
  | Str of string
  | Key of string
  | List of { items : t list; round : bool }
  | Set of t list
  | Row of { packed : string; set : bool }  (* a list or a set of at least 8 small numbers, each in 4 bytes *)
  | Map of (t * t) list
  | Tagged of string * t
  | Odd of string

let fail fmt = Printf.ksprintf (fun s -> raise (Unreadable s)) fmt

external packed_at : string -> int -> int32 = "%caml_string_get32"
external pack : Bytes.t -> int -> int32 -> unit = "%caml_bytes_set32"
let row_length packed = String.length packed / 4
let row_at packed i = Int32.to_int (packed_at packed (4 * i))
let unpacked packed = List.init (row_length packed) (fun i -> Int (row_at packed i))

(* Equal values, and no others, have the same text. *)
let rec text b v =
  let add = Buffer.add_string b in
  let sorted vs = List.sort compare (List.map (fun v -> let b = Buffer.create 16 in text b v; Buffer.contents b) vs) in
  let quoted tag s = add tag; add (string_of_int (String.length s)); add ":"; add s in
  match v with
  | Nil -> add "nil"
  | Bool x -> add (if x then "true" else "false")
  | Int n -> add "i"; add (string_of_int n); add ";"
  | Big s -> add "i"; add s; add ";"
  | Atom s -> quoted "a" s
  | Str s -> quoted "s" s
  | Key s -> quoted "k" s
  | List l -> add "["; List.iter (text b) l.items; add "]"
  | Set vs -> add "#{"; List.iter add (sorted vs); add "}"
  | Map kvs -> add "{"; List.iter add (List.sort compare (List.map (fun (k, v) -> let b = Buffer.create 16 in text b k; text b v; Buffer.contents b) kvs)); add "}"
  | Row r -> text b (if r.set then Set (unpacked r.packed) else List { items = unpacked r.packed; round = false })
  | Tagged (tag, v) -> quoted "#" tag; text b v
  | Odd s -> fail "%s for sure" s
let canonical v = match v with
  | Int n -> "i" ^ string_of_int n ^ ";"
  | Nil -> "nil"
  | _ -> let b = Buffer.create 32 in text b v; Buffer.contents b
let equal v u = match v, u with
  | Int n, Int m -> n = m
  | _ -> v == u || String.equal (canonical v) (canonical u)
let rec certain v = match v with
  | Odd _ -> false
  | List l -> List.for_all certain l.items
  | Set vs -> List.for_all certain vs
  | Map kvs -> List.for_all (fun (k, v) -> certain k && certain v) kvs
  | Tagged (_, v) -> certain v
  | _ -> true

let rec bare v = match v with Tagged (_, v) -> bare v | _ -> v
let field v name = match v with
  | Map kvs -> (match List.find_opt (fun (k, _) -> k = Key name) kvs with Some (_, v) -> v | None -> Nil)
  | _ -> Nil
let has_field v name = match v with Map kvs -> List.exists (fun (k, _) -> k = Key name) kvs | _ -> false
let whole v = match v with Int _ | Big _ -> true | _ -> false
let int_of v = match v with Int n -> n | _ -> fail "a number of this size"

let nans = ref 0
let digits s from until =
  until > from && (let ok = ref true in for i = from to until - 1 do if s.[i] < '0' || s.[i] > '9' then ok := false done; !ok)
let sign s = if s <> "" && (s.[0] = '-' || s.[0] = '+') then 1 else 0
let plain_digits s from until = digits s from until && (until - from = 1 || s.[from] <> '0')

let number s =
  let n = String.length s in
  let from = sign s in
  let body_end = if n > 0 && s.[n - 1] = 'N' then n - 1 else n in
  let trimmed i j = String.sub s i (j - i) in
  if plain_digits s from body_end then
    let t = trimmed from body_end in
    let t = if s.[0] = '-' then "-" ^ t else t in
    if body_end - from <= 17 then Int (int_of_string t) else Big t
  else if s.[n - 1] = 'M' then begin
    (* an exact decimal: its digits without zeros at the end, and the exponent *)
    let t = trimmed from (n - 1) in
    let mantissa, exponent = match String.index_opt (String.lowercase_ascii t) 'e' with
      | Some i -> String.sub t 0 i, String.sub t (i + 1) (String.length t - i - 1)
      | None -> t, "0" in
    let whole, part = match String.index_opt mantissa '.' with
      | Some i -> String.sub mantissa 0 i, String.sub mantissa (i + 1) (String.length mantissa - i - 1)
      | None -> mantissa, "" in
    let es = sign exponent in
    if digits whole 0 (String.length whole) && (part = "" || digits part 0 (String.length part))
       && digits exponent es (String.length exponent) && String.length exponent - es <= 3 then begin
      let e = int_of_string (if exponent.[0] = '+' then String.sub exponent 1 (String.length exponent - 1) else exponent) - String.length part in
      let d = whole ^ part in
      let i = ref 0 in
      while !i < String.length d - 1 && d.[!i] = '0' do incr i done;
      let d = String.sub d !i (String.length d - !i) in
      let j = ref (String.length d) in
      while !j > 1 && d.[!j - 1] = '0' do decr j done;
      let e = e + String.length d - !j and d = String.sub d 0 !j in
      Atom (if d = "0" then "m0" else Printf.sprintf "m%s%se%d" (if s.[0] = '-' then "-" else "") d e)
    end else Odd s
  end
  else if String.contains s '/' then begin
    (* a ratio, which is as small as it can be, or a whole number *)
    let slash = String.index s '/' in
    if plain_digits s from slash && plain_digits s (slash + 1) n && slash - from <= 17 && n - slash - 1 <= 17 then begin
      let rec gcd a b = if b = 0 then a else gcd b (a mod b) in
      let a = int_of_string (trimmed from slash) and b = int_of_string (trimmed (slash + 1) n) in
      let d = gcd a b in
      let sign = if a > 0 && s.[0] = '-' then "-" else "" in
      if b = 0 then Odd s else if b = d then Int (if sign = "-" then -a / d else a / d) else Atom (Printf.sprintf "r%s%d/%d" sign (a / d) (b / d))
    end else Odd s
  end
  else match float_of_string_opt s with
    | Some x when String.for_all (fun c -> (c >= '0' && c <= '9') || String.contains "+-.eE" c) s && digits s from (from + 1)
                  && (String.contains s '.' || String.contains s 'e' || String.contains s 'E')
                  && not (String.contains s '.' && (let i = String.index s '.' in not (digits s from i))) ->
      if Float.abs x < infinity then Atom (Printf.sprintf "f%h" (if x = 0.0 then 0.0 else x))
      else Atom (if x > 0.0 then "finf" else "f-inf")
    | _ -> if String.for_all (fun c -> (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c = '+' || c = '-' || c = '.') s then Odd s else fail "%s" s

(* What every reader takes for the same symbol. Some skip spaces of Unicode, and some refuse a second slash. *)
let symbolic s =
  let from = if s.[0] = ':' || s.[0] = '#' then 1 else 0 in
  let n = String.length s in
  String.for_all (fun c -> match c with '\000' .. ' ' | '\'' | '@' | '^' | '`' | '~' | '\127' .. '\255' -> false | _ -> true) s
  && (match String.index_opt s '/' with None -> true | Some i -> n = 1 || (i > from && i < n - 1 && String.rindex s '/' = i))

let atom s =
  let n = String.length s in
  match s with
  | "nil" -> Nil | "true" -> Bool true | "false" -> Bool false
  | "##Inf" -> Atom "finf" | "##-Inf" -> Atom "f-inf"
  | "##NaN" -> incr nans; Atom (Printf.sprintf "nan%d" !nans)
  | _ ->
    match s.[0] with
    | '0' .. '9' -> number s
    | ('+' | '-') when n > 1 && s.[1] >= '0' && s.[1] <= '9' -> number s
    | ':' -> if n > 1 && s.[1] <> ':' && symbolic s then Key (String.sub s 1 (n - 1)) else Odd s
    | '#' -> Odd s
    | _ -> if symbolic s then Atom ("y" ^ s) else fail "%s" s

let delimiters = String.init 256 (fun i -> match Char.chr i with
    | '\t' .. '\r' | '\x1c' .. ' ' | ',' | '(' | ')' | '[' | ']' | '{' | '}' | '"' | ';' | '\\' -> 'd' | _ -> ' ')
let delimiter c = delimiters.[Char.code c] = 'd'
let blank c = match c with '\t' .. '\r' | '\x1c' .. ' ' | ',' -> true | _ -> false

(* What is spelled the same is read once, as long as nothing else has its place. A NaN equals nothing. *)
let slots = 1 lsl 16
let spelled = Array.make slots "" and meant = Array.make slots Nil
let rec agrees s from t i = i = String.length t || (s.[from + i] = t.[i] && agrees s from t (i + 1))
let atom_at s from until hash =
  let slot = hash land (slots - 1) in
  let known = spelled.(slot) in
  if String.length known = until - from && agrees s from known 0 then meant.(slot)
  else begin
    let t = String.sub s from (until - from) in
    let v = atom t in
    if t <> "##NaN" then (spelled.(slot) <- t; meant.(slot) <- v);
    v end

let met = Small.create () and lists = ref 0
let twice vs =
  incr lists;
  let seen = Texts.create 16 in
  List.exists (fun v -> match v with
      | Int n when Small.has n -> Small.get met n = !lists || (Small.set met n !lists; false)
      | _ -> let c = canonical v in Texts.mem seen c || (Texts.add seen c (); false)) vs

let row_twice packed =
  incr lists;
  let rec from i = i < row_length packed && (let n = row_at packed i in Small.get met n = !lists || (Small.set met n !lists; from (i + 1))) in
  from 0

(* Numbers up to about twice those that were met. A first :time that is large would make very many. *)
let few = ref [||]
let shared n =
  let have = Array.length !few in
  if n < have then !few.(n)
  else if n >= (2 * have) + 1000 || n >= 1 lsl 20 then Int n
  else begin
    few := Array.append !few (Array.init (have + 1000) (fun i -> Int (have + i)));
    !few.(n) end

(* A UUID of 36 characters, in either case. *)
let uuid s =
  let ok = ref (String.length s = 36) in
  String.iteri (fun i c -> if (i = 8 || i = 13 || i = 18 || i = 23) <> (c = '-') || not (match c with '0' .. '9' | 'a' .. 'f' | 'A' .. 'F' | '-' -> true | _ -> false) then ok := false) s;
  if !ok then Some (Atom ("u" ^ String.lowercase_ascii s)) else None

(* An instant that is spelled in full, "2024-02-29T12:00:00.000Z" or with an offset: its milliseconds. The calendar was another one before 1583. *)
let instant s =
  let n = String.length s in
  let number from until = if until <= n && digits s from until then int_of_string (String.sub s from (until - from)) else -1 in
  let shape = "....-..-..T..:..:.." in
  let m = String.length shape in
  let ok = n > m && (let ok = ref true in String.iteri (fun i c -> if c <> '.' && s.[i] <> c then ok := false) shape; !ok) in
  if not ok then None
  else begin
    let year = number 0 4 and month = number 5 7 and day = number 8 10 and hour = number 11 13 and minute = number 14 16 and second = number 17 19 in
    let stop = ref (m + 1) in
    if s.[m] = '.' then while !stop < n && digits s !stop (!stop + 1) do incr stop done else stop := m;
    let part = if s.[m] = '.' then String.sub (String.sub s (m + 1) (!stop - m - 1) ^ "000") 0 3 else "000" in
    let away = match String.sub s !stop (n - !stop) with
      | "Z" -> 0
      | z when String.length z = 6 && (z.[0] = '+' || z.[0] = '-') && z.[3] = ':' && digits z 1 3 && digits z 4 6 ->
        let h = int_of_string (String.sub z 1 2) and m = int_of_string (String.sub z 4 2) in
        if h > 23 || m > 59 then max_int else if z.[0] = '-' then - (60 * h + m) else 60 * h + m
      | _ -> max_int in
    let leap = year mod 4 = 0 && (year mod 100 <> 0 || year mod 400 = 0) in
    let length = match month with 2 -> if leap then 29 else 28 | 4 | 6 | 9 | 11 -> 30 | _ -> 31 in
    if year < 1583 || month < 1 || month > 12 || day < 1 || day > length || hour < 0 || hour > 23 || minute < 0 || minute > 59 || second < 0 || second > 59
       || away = max_int || (s.[m] = '.' && !stop = m + 1) then None
    else begin
      let y = if month < 3 then year - 1 else year and shifted = (month + 9) mod 12 in
      let days = (365 * y) + (y / 4) - (y / 100) + (y / 400) + (((153 * shifted) + 2) / 5) + day in
      Some (Atom (Printf.sprintf "t%d%s" ((((days * 1440) + (hour * 60) + minute - away) * 60) + second) part))
    end
  end

(* Characters that have names, and those that are spelled by their number. Half of a pair is none. *)
let named = [ "newline", "\n"; "space", " "; "tab", "\t"; "return", "\r"; "backspace", "\b"; "formfeed", "\012" ]
let unicode s at = match hex s at with
  | Some u when Uchar.is_valid u -> let b = Buffer.create 4 in Buffer.add_utf_8_uchar b (Uchar.of_int u); Some (Buffer.contents b)
  | _ -> None

let utf8 s =
  let n = String.length s in
  let rec from i =
    i >= n ||
    let c = Char.code s.[i] in
    let more = if c < 0x80 then 0 else if c < 0xc2 then 9 else if c < 0xe0 then 1 else if c < 0xf0 then 2 else if c < 0xf5 then 3 else 9 in
    i + more < n
    && (let ok = ref true in
        for j = i + 1 to i + more do if Char.code s.[j] land 0xc0 <> 0x80 then ok := false done;
        let next = if more > 1 then Char.code s.[i + 1] else 0x90 in
        !ok && not ((c = 0xe0 && next < 0xa0) || (c = 0xed && next > 0x9f) || (c = 0xf0 && next < 0x90) || (c = 0xf4 && next > 0x8f)))
    && from (i + more + 1) in
  from 0

(* The numbers of the row that is being read. *)
let row = ref (Bytes.create 4096)
let least_row = 8

(* All forms of a text, in order, with rows or without. If it is not the last piece of a text, a form at its end may go on in the next one: where that begins, or
the spaces before it. *)
let forms ?(rows = true) ?(last = true) s each =
  let n = String.length s in
  let at = ref 0 and small = ref 0 in
  (* Digits as they are mostly spelled. *)
  let short_number () =
    let stop = ref !at in
    small := 0;
    while !stop < n && !stop - !at < 18 && s.[!stop] >= '0' && s.[!stop] <= '9' do
      small := (10 * !small) + Char.code s.[!stop] - 48; incr stop done;
    let plain = !stop - !at <= 17 && (!stop = n || delimiter s.[!stop]) && (s.[!at] <> '0' || !stop = !at + 1) in
    if plain then at := !stop;
    plain in
  (* Small numbers, as far as they follow each other, go into the row; how many there were. *)
  let small_numbers () =
    let i = ref !at and count = ref 0 and going = ref rows in
    while !going do
      while !i < n && blank (String.unsafe_get s !i) do incr i done;
      let from = !i and v = ref 0 in
      while !i < n && !i - from < 8 && (match String.unsafe_get s !i with '0' .. '9' -> true | _ -> false) do
        v := (10 * !v) + Char.code (String.unsafe_get s !i) - 48; incr i done;
      if !i > from && Small.has !v && (!i = n || delimiter (String.unsafe_get s !i)) && (s.[from] <> '0' || !i = from + 1) then begin
        if 4 * !count = Bytes.length !row then row := Bytes.extend !row 0 (4 * !count);
        pack !row (4 * !count) (Int32.of_int !v);
        incr count end
      else (i := from; going := false)
    done;
    at := !i;
    !count in
  let rec skip () =
    if !at < n then
      if blank s.[!at] then (incr at; skip ())
      else if s.[!at] = ';' then begin
        while !at < n && s.[!at] <> '\n' && s.[!at] <> '\r' do incr at done; skip () end
      else if s.[!at] = '#' && !at + 1 < n && s.[!at + 1] = '_' then begin
        at := !at + 2; ignore (form 0); skip () end
  and token () =
    let from = !at in
    while !at < n && not (delimiter s.[!at]) do incr at done;
    String.sub s from (!at - from)
  and string () =
    let b = Buffer.create 16 and odd = ref false in
    incr at;
    let rec go () =
      if !at >= n then fail "what is cut off";
      match s.[!at] with
      | '"' -> incr at
      | '\\' ->
        if !at + 1 >= n then fail "what is cut off";
        (match s.[!at + 1] with
         | 'n' -> Buffer.add_char b '\n' | 't' -> Buffer.add_char b '\t' | 'r' -> Buffer.add_char b '\r'
         | 'b' -> Buffer.add_char b '\b' | 'f' -> Buffer.add_char b '\012'
         | ('"' | '\\') as c -> Buffer.add_char b c
         | 'u' -> (match unicode s (!at + 2) with Some c -> Buffer.add_string b c; at := !at + 4 | None -> odd := true)
         | _ -> odd := true);
        at := !at + 2; go ()
      | c -> Buffer.add_char b c; incr at; go () in
    go ();
    let text = Buffer.contents b in
    if !odd then Odd "a string with such an escape" else if not (utf8 text) then fail "other bytes than UTF-8" else Str text
  and items close depth = go close depth []
  and go close depth acc =
    skip ();
    if !at >= n then fail "what is cut off"
    else if s.[!at] = close then (incr at; List.rev acc)
    else go close depth (form (depth + 1) :: acc)
  (* A row, or what else it is. *)
  and row_or close depth set other =
    let count = small_numbers () in
    if count >= least_row && !at < n && s.[!at] = close then (incr at; Row { packed = Bytes.sub_string !row 0 (4 * count); set })
    else begin
      let acc = ref [] in
      for i = 0 to count - 1 do acc := shared (Int32.to_int (Bytes.get_int32_ne !row (4 * i))) :: !acc done;
      other (go close depth !acc) end
  (* Keys and their values, and whether the last key has one. *)
  and pairs depth acc =
    skip ();
    if !at < n && s.[!at] = '}' then (incr at; List.rev acc, true)
    else begin
      let k = form (depth + 1) in
      skip ();
      if !at < n && s.[!at] = '}' then (incr at; List.rev acc, false)
      else begin
        let v = form (depth + 1) in
        pairs depth ((k, v) :: acc) end end
  and form depth =
    if depth > 100 then fail "what nests so deep";
    skip ();
    if !at >= n then fail "what is cut off";
    match s.[!at] with
    | '(' -> incr at; row_or ')' depth false (fun items -> List { items; round = true })
    | '[' -> incr at; row_or ']' depth false (fun items -> List { items; round = false })
    | '{' -> incr at;
      let kvs, whole = pairs depth [] in
      let plain = List.for_all (fun (k, _) -> match k with Key _ -> true | _ -> false) kvs in
      let rec again = function (Key k, _) :: rest -> List.exists (fun (k', _) -> match k' with Key k' -> String.equal k k' | _ -> false) rest || again rest | _ -> false in
      if not whole then Odd "a map without a value"
      else if not (plain || List.for_all (fun (k, _) -> certain k) kvs) || (if plain && List.compare_length_with kvs 30 < 0 then again kvs else twice (List.map fst kvs)) then Odd "a map with a key twice"
      else Map kvs
    | '"' -> string ()
    | '\\' ->
      incr at;
      if !at >= n then fail "what is cut off";
      let from = !at in
      incr at;
      ignore (token ());
      let c = String.sub s from (!at - from) in
      let char = if String.length c = 5 && c.[0] = 'u' then unicode c 1
        else match List.assoc_opt c named with
          | Some char -> Some char
          | None -> if String.length c = 1 && Char.code c.[0] > 32 then Some c else None in
      (match char with Some char -> Atom ("c" ^ char) | None -> Odd "such a character")
    | '#' when !at + 1 < n && s.[!at + 1] = '{' ->
      at := !at + 2;
      (match row_or '}' depth true (fun xs -> Set xs) with
       | Set xs when not (List.for_all certain xs) || twice xs -> Odd "a set with an element twice"
       | Row r when row_twice r.packed -> Odd "a set with an element twice"
       | v -> v)
    | '#' when !at + 1 < n && s.[!at + 1] = '"' -> incr at; ignore (string ()); Odd "a pattern"
    | '#' when !at + 1 < n && s.[!at + 1] <> '#' ->
      let tag = token () in
      if String.length tag < 2 || not (symbolic tag) || not (match tag.[1] with 'a' .. 'z' | 'A' .. 'Z' -> true | _ -> false) then fail "%s" tag;
      let v = form (depth + 1) in
      (match tag, v with
       | "#uuid", Str s -> (match uuid s with Some v -> v | None -> Odd tag)
       | "#inst", Str s -> (match instant s with Some v -> v | None -> Odd tag)
       | _ -> if tag = "#inst" || tag = "#uuid" || tag.[1] = ':' then Odd tag else Tagged (tag, v))
    | ')' | ']' | '}' | '^' -> fail "%c where it stands" s.[!at]
    | '0' .. '9' when short_number () -> shared !small
    | _ ->
      let from = !at and hash = ref 0 in
      while !at < n && not (delimiter s.[!at]) do hash := (!hash * 31) + Char.code s.[!at]; incr at done;
      if !at = from then fail "%C" s.[!at];
      atom_at s from !at (!hash lxor (!hash lsr 16)) in
  let rec go () =
    while !at < n && blank s.[!at] do incr at done;
    let begins = !at in
    (* An escape is cut off before the end. *)
    let may_go_on () = not last && !at >= n - 8 in
    match skip (); if !at < n then Some (form 0) else None with
    | exception Unreadable _ when may_go_on () -> begins
    | _ when may_go_on () -> begins
    | Some v -> each v; go ()
    | None -> n in
  go ()

(* All forms of what is read piece by piece: whether it is what comes first but for spaces is told to [check]. A form that is larger than a piece is read again with the next ones. *)
let forms_of_pieces read check each =
  let rec feed rest first =
    let piece = read (max (1 lsl 20) (String.length rest)) in
    let s = if rest = "" then piece else rest ^ piece and last = piece = "" in
    let nothing = String.for_all blank s in
    if first && not nothing then check s;
    let left = forms ~last s each in
    if not last then feed (String.sub s left (String.length s - left)) (first && nothing) in
  feed "" true

let only text =
  let all = ref [] in
  let n = String.length text in
  for i = 0 to n - 5 do if String.sub text i 5 = "##NaN" then fail "a ##NaN here" done;
  ignore (forms ~rows:false text (fun v -> all := v :: !all));
  match !all with [ v ] when certain v -> v | _ -> fail "%s for sure" text
