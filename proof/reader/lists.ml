(* Lists may have a million elements: no deep recursion. *)
module List = struct
  include List
  let map f l = rev (rev_map f l)
  let append a b = rev_append (rev a) b
  let ( @ ) = append
end

module Texts = Hashtbl.Make (struct
    type t = string
    let equal = String.equal
    let hash s =
      let h = ref 0 in
      for i = 0 to String.length s - 1 do h := (!h * 31) + Char.code s.[i] done;
      (!h lxor (!h lsr 17)) land max_int
  end)

(* A number, or 0, for each of the small numbers. *)
module Small = struct
  let create () = ref [||]
  let has n = n >= 0 && n < 1 lsl 22
  let get t n = if n < Array.length !t then !t.(n) else 0
  let set t n x =
    if n >= Array.length !t then t := Array.append !t (Array.make (n + 1000) 0);
    !t.(n) <- x
end

(* Four hexadecimal digits. *)
let hex s at =
  let digit c = match c with '0' .. '9' | 'a' .. 'f' | 'A' .. 'F' -> true | _ -> false in
  if at + 4 <= String.length s && String.for_all digit (String.sub s at 4) then Some (int_of_string ("0x" ^ String.sub s at 4)) else None
