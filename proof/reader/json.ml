(* JSON of certificates: exact, and no field twice. *)

open Lists

exception Bad

type t = Null | Bool of bool | Int of int | String of string | Ints of int array | List of t list | Object of (string * t) list

let parse s =
  let n = String.length s and at = ref 0 in
  let peek () = if !at < n then s.[!at] else raise Bad in
  let rec skip () = if !at < n && (match s.[!at] with ' ' | '\t' | '\n' | '\r' -> true | _ -> false) then (incr at; skip ()) in
  let expect c = if peek () = c then incr at else raise Bad in
  let word w v = if !at + String.length w <= n && String.sub s !at (String.length w) = w then (at := !at + String.length w; v) else raise Bad in
  let hex () = match hex s !at with Some u -> at := !at + 4; u | None -> raise Bad in
  let text () =
    expect '"';
    let b = Buffer.create 16 in
    let rec go () =
      match peek () with
      | '"' -> incr at
      | '\\' ->
        incr at;
        let c = peek () in
        incr at;
        (match c with
         | '"' | '\\' | '/' -> Buffer.add_char b c
         | 'n' -> Buffer.add_char b '\n' | 't' -> Buffer.add_char b '\t' | 'r' -> Buffer.add_char b '\r'
         | 'b' -> Buffer.add_char b '\b' | 'f' -> Buffer.add_char b '\012'
         | 'u' ->
           let u = hex () in
           let u = if u >= 0xd800 && u < 0xdc00 then begin
               expect '\\'; expect 'u';
               let low = hex () in
               if low < 0xdc00 || low >= 0xe000 then raise Bad;
               0x10000 + ((u - 0xd800) lsl 10) + (low - 0xdc00) end
             else u in
           if not (Uchar.is_valid u) then raise Bad;
           Buffer.add_utf_8_uchar b (Uchar.of_int u)
         | _ -> raise Bad);
        go ()
      | c when c < ' ' -> raise Bad
      | c -> Buffer.add_char b c; incr at; go () in
    go (); Buffer.contents b in
  let int () =
    let from = !at in
    if peek () = '-' then incr at;
    let first = !at in
    while !at < n && s.[!at] >= '0' && s.[!at] <= '9' do incr at done;
    if !at = first || !at - first > 17 || (s.[first] = '0' && !at - first > 1) then raise Bad;
    if !at < n && (match s.[!at] with '.' | 'e' | 'E' -> true | _ -> false) then raise Bad;
    int_of_string (String.sub s from (!at - from)) in
  let rec value depth =
    if depth > 20 then raise Bad;
    skip ();
    match peek () with
    | 'n' -> word "null" Null
    | 't' -> word "true" (Bool true)
    | 'f' -> word "false" (Bool false)
    | '"' -> String (text ())
    | '[' ->
      incr at; skip ();
      if peek () = ']' then (incr at; Ints [||])
      else if (match peek () with '-' | '0' .. '9' -> true | _ -> false) then begin
        let xs = ref [] in
        let rec go () =
          skip (); xs := int () :: !xs; skip ();
          match peek () with ',' -> incr at; go () | ']' -> incr at | _ -> raise Bad in
        go (); Ints (Array.of_list (List.rev !xs)) end
      else begin
        let xs = ref [] in
        let rec go () =
          xs := value (depth + 1) :: !xs; skip ();
          match peek () with ',' -> incr at; go () | ']' -> incr at | _ -> raise Bad in
        go (); List (List.rev !xs) end
    | '{' ->
      incr at; skip ();
      let xs = ref [] in
      if peek () = '}' then incr at
      else begin
        let rec go () =
          skip ();
          let k = text () in
          if List.mem_assoc k !xs then raise Bad;
          skip (); expect ':';
          xs := (k, value (depth + 1)) :: !xs; skip ();
          match peek () with ',' -> incr at; go () | '}' -> incr at | _ -> raise Bad in
        go () end;
      Object (List.rev !xs)
    | _ -> Int (int ()) in
  let v = value 0 in
  skip ();
  if !at < n then raise Bad;
  v
