(* SHA-256, FIPS 180-4. A word is the lower half of an Int64, which has no tag to be kept; arrays of words are bytes. *)

let k =
  [| 0x428a2f98; 0x71374491; 0xb5c0fbcf; 0xe9b5dba5; 0x3956c25b; 0x59f111f1; 0x923f82a4; 0xab1c5ed5; 0xd807aa98; 0x12835b01; 0x243185be; 0x550c7dc3; 0x72be5d74; 0x80deb1fe;
    0x9bdc06a7; 0xc19bf174; 0xe49b69c1; 0xefbe4786; 0x0fc19dc6; 0x240ca1cc; 0x2de92c6f; 0x4a7484aa; 0x5cb0a9dc; 0x76f988da; 0x983e5152; 0xa831c66d; 0xb00327c8; 0xbf597fc7;
    0xc6e00bf3; 0xd5a79147; 0x06ca6351; 0x14292967; 0x27b70a85; 0x2e1b2138; 0x4d2c6dfc; 0x53380d13; 0x650a7354; 0x766a0abb; 0x81c2c92e; 0x92722c85; 0xa2bfe8a1; 0xa81a664b;
    0xc24b8b70; 0xc76c51a3; 0xd192e819; 0xd6990624; 0xf40e3585; 0x106aa070; 0x19a4c116; 0x1e376c08; 0x2748774c; 0x34b0bcb5; 0x391c0cb3; 0x4ed8aa4a; 0x5b9cca4f; 0x682e6ff3;
    0x748f82ee; 0x78a5636f; 0x84c87814; 0x8cc70208; 0x90befffa; 0xa4506ceb; 0xbef9a3f7; 0xc67178f2 |]

external word : Bytes.t -> int -> int64 = "%caml_bytes_get64u"
external set_word : Bytes.t -> int -> int64 -> unit = "%caml_bytes_set64u"
let words xs = let b = Bytes.create (8 * Array.length xs) in Array.iteri (fun i x -> set_word b (8 * i) (Int64.of_int x)) xs; b
let k = words k

let hex s =
  let n = String.length s in
  let rest = n mod 64 in
  let tail = Bytes.make (if rest < 56 then 64 else 128) '\000' in
  Bytes.blit_string s (n - rest) tail 0 rest;
  Bytes.set tail rest '\x80';
  Bytes.set_int64_be tail (Bytes.length tail - 8) (Int64.of_int (8 * n));
  let h = words [| 0x6a09e667; 0xbb67ae85; 0x3c6ef372; 0xa54ff53a; 0x510e527f; 0x9b05688c; 0x1f83d9ab; 0x5be0cd19 |] in
  let w = Bytes.create 512 in
  let open struct
    external ( + ) : int64 -> int64 -> int64 = "%int64_add"
    external ( lxor ) : int64 -> int64 -> int64 = "%int64_xor"
    external ( land ) : int64 -> int64 -> int64 = "%int64_and"
    external ( lor ) : int64 -> int64 -> int64 = "%int64_or"
    external ( lsr ) : int64 -> int -> int64 = "%int64_lsr"
    external ( lsl ) : int64 -> int -> int64 = "%int64_lsl"
    external after : int -> int -> int = "%addint"
  end in
  let mask = 0xffffffffL in
  let block s from =
    for i = 0 to 15 do set_word w (8 * i) (Int64.of_int32 (String.get_int32_be s (after from (4 * i))) land mask) done;
    for i = 16 to 63 do
      let a = word w (8 * (i - 15)) and b = word w (8 * (i - 2)) in
      (* Twice the word in one number, so that what is shifted out comes in again. *)
      let aa = a lor (a lsl 32) and bb = b lor (b lsl 32) in
      let s0 = (aa lsr 7) lxor (aa lsr 18) lxor (a lsr 3) and s1 = (bb lsr 17) lxor (bb lsr 19) lxor (b lsr 10) in
      set_word w (8 * i) ((word w (8 * (i - 16)) + s0 + word w (8 * (i - 7)) + s1) land mask)
    done;
    let a = ref (word h 0) and b = ref (word h 8) and c = ref (word h 16) and d = ref (word h 24) in
    let e = ref (word h 32) and f = ref (word h 40) and g = ref (word h 48) and last = ref (word h 56) in
    for i = 0 to 63 do
      let aa = !a lor (!a lsl 32) and ee = !e lor (!e lsl 32) in
      let t = ((ee lsr 6) lxor (ee lsr 11) lxor (ee lsr 25)) + (!g lxor (!e land (!f lxor !g))) + !last + word k (8 * i) + word w (8 * i) in
      let u = ((aa lsr 2) lxor (aa lsr 13) lxor (aa lsr 22)) + ((!a land !b) lor (!c land (!a lor !b))) in
      last := !g; g := !f; f := !e; e := (!d + t) land mask;
      d := !c; c := !b; b := !a; a := (t + u) land mask
    done;
    List.iteri (fun i x -> set_word h (8 * i) ((word h (8 * i) + x) land mask)) [ !a; !b; !c; !d; !e; !f; !g; !last ] in
  for b = 0 to (n / 64) - 1 do block s (64 * b) done;
  let tail = Bytes.to_string tail in
  for b = 0 to (String.length tail / 64) - 1 do block tail (64 * b) done;
  String.concat "" (List.init 8 (fun i -> Printf.sprintf "%08Lx" (word h (8 * i))))
