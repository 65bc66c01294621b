(* SHA-256, FIPS 180-4, in native integers. *)

let k =
  [| 0x428a2f98; 0x71374491; 0xb5c0fbcf; 0xe9b5dba5; 0x3956c25b; 0x59f111f1; 0x923f82a4; 0xab1c5ed5; 0xd807aa98; 0x12835b01; 0x243185be; 0x550c7dc3; 0x72be5d74; 0x80deb1fe;
    0x9bdc06a7; 0xc19bf174; 0xe49b69c1; 0xefbe4786; 0x0fc19dc6; 0x240ca1cc; 0x2de92c6f; 0x4a7484aa; 0x5cb0a9dc; 0x76f988da; 0x983e5152; 0xa831c66d; 0xb00327c8; 0xbf597fc7;
    0xc6e00bf3; 0xd5a79147; 0x06ca6351; 0x14292967; 0x27b70a85; 0x2e1b2138; 0x4d2c6dfc; 0x53380d13; 0x650a7354; 0x766a0abb; 0x81c2c92e; 0x92722c85; 0xa2bfe8a1; 0xa81a664b;
    0xc24b8b70; 0xc76c51a3; 0xd192e819; 0xd6990624; 0xf40e3585; 0x106aa070; 0x19a4c116; 0x1e376c08; 0x2748774c; 0x34b0bcb5; 0x391c0cb3; 0x4ed8aa4a; 0x5b9cca4f; 0x682e6ff3;
    0x748f82ee; 0x78a5636f; 0x84c87814; 0x8cc70208; 0x90befffa; 0xa4506ceb; 0xbef9a3f7; 0xc67178f2 |]

let hex s =
  let mask = 0xffffffff in
  let n = String.length s in
  let padded = (n + 72) / 64 * 64 in
  let tail = Bytes.make (padded - (n / 64 * 64)) '\000' in
  Bytes.blit_string s (n / 64 * 64) tail 0 (n mod 64);
  Bytes.set tail (n mod 64) '\x80';
  Bytes.set_int64_be tail (Bytes.length tail - 8) (Int64.of_int (8 * n));
  let h = [| 0x6a09e667; 0xbb67ae85; 0x3c6ef372; 0xa54ff53a; 0x510e527f; 0x9b05688c; 0x1f83d9ab; 0x5be0cd19 |] in
  let w = Array.make 64 0 in
  (* Twice the word in one number, so that what is shifted out comes in again. *)
  let double x = x lor (x lsl 32) in
  let rec rounds i a b c d e f g last =
    if i = 64 then Array.iteri (fun i x -> h.(i) <- (h.(i) + x) land mask) [| a; b; c; d; e; f; g; last |]
    else begin
      let aa = double a and ee = double e in
      let t = ((ee lsr 6) lxor (ee lsr 11) lxor (ee lsr 25)) land mask + ((e land f) lxor (lnot e land g)) + last + k.(i) + w.(i) in
      let u = ((aa lsr 2) lxor (aa lsr 13) lxor (aa lsr 22)) land mask + ((a land b) lxor (a land c) lxor (b land c)) in
      rounds (i + 1) ((t + u) land mask) a b c ((d + t) land mask) e f g end in
  let block get =
    for i = 0 to 15 do w.(i) <- get (4 * i) done;
    for i = 16 to 63 do
      let a = w.(i - 15) and b = w.(i - 2) in
      let aa = double a and bb = double b in
      w.(i) <- (w.(i - 16) + ((aa lsr 7) lxor (aa lsr 18) lxor (a lsr 3)) land mask + w.(i - 7) + ((bb lsr 17) lxor (bb lsr 19) lxor (b lsr 10)) land mask) land mask
    done;
    rounds 0 h.(0) h.(1) h.(2) h.(3) h.(4) h.(5) h.(6) h.(7) in
  for b = 0 to (n / 64) - 1 do block (fun i -> Int32.to_int (String.get_int32_be s ((64 * b) + i)) land mask) done;
  for b = 0 to (Bytes.length tail / 64) - 1 do block (fun i -> Int32.to_int (Bytes.get_int32_be tail ((64 * b) + i)) land mask) done;
  String.concat "" (Array.to_list (Array.map (Printf.sprintf "%08x") h))
