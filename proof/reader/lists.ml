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
