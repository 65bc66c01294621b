(** Data types of which only operations that change nothing may be left out: versioned-register, locks and semaphores with owners, locks with
fences, bank, log, lease and list-append. Each [apply] is trusted: it says which state a call leads to, or that it cannot happen. *)

From Coq Require Import List PArith ZArith Bool Lia.
From Clew Require Import History Order Core Projection Check Plain.
Import ListNotations.
Open Scope Z_scope.

Section Machine.
Context {state call : Type}.
Variable apply : state -> call -> option state.
Definition does (s : state) (c : call) (s' : state) : Prop := apply s c = Some s'.
Definition outcomes (s : state) (c : call) : list state := match apply s c with Some s' => [s'] | None => [] end.
Variable state_dec : forall s s' : state, {s = s'} + {s <> s'}.
Variable call_dec : forall c c' : call, {c = c'} + {c <> c'}.
Variable idle : call -> bool.
Hypothesis idle_same : forall s c s', idle c = true -> apply s c = Some s' -> s' = s.
Definition state_eqb (s s' : state) : bool := if state_dec s s' then true else false.
Definition call_eqb (c c' : call) : bool := if call_dec c c' then true else false.
Lemma machine_laws : Laws (step does) (next outcomes) abs state_eqb (same call_eqb) (pure idle) (restrict idle).
Proof.
  apply Plain.laws.
  - intros s c s'. unfold outcomes, does. destruct (apply s c); simpl; split; try easy; intuition congruence.
  - intros s s'. unfold state_eqb. now destruct (state_dec s s').
  - intros c c'. unfold call_eqb. now destruct (call_dec c c').
  - exact idle_same.
Qed.
End Machine.

Definition option_dec {A} (d : forall a b : A, {a = b} + {a <> b}) : forall a b : option A, {a = b} + {a <> b}.
Proof. decide equality. Defined.
Definition pair_dec {A B} (d : forall a b : A, {a = b} + {a <> b}) (e : forall a b : B, {a = b} + {a <> b}) : forall a b : A * B, {a = b} + {a <> b}.
Proof. decide equality. Defined.
Definition fits (o : option Z) (n : Z) : bool := match o with Some m => m =? n | None => true end.

(** A register with a version: the number of its updates. *)
Module Versioned.
Inductive call := Read (version : option Z) (value : option positive) | Write (version : option Z) (value : positive) | Cas (version : option Z) (old new : positive).
Definition state := (Z * positive)%type.
Definition apply (s : state) (c : call) : option state :=
  match c with
  | Read version value => if fits version (fst s) && match value with Some v => Pos.eqb v (snd s) | None => true end then Some s else None
  | Write version value => if fits version (fst s + 1) then Some (fst s + 1, value) else None
  | Cas version old new => if fits version (fst s + 1) && Pos.eqb old (snd s) then Some (fst s + 1, new) else None
  end.
Definition state_dec : forall s s' : state, {s = s'} + {s <> s'} := pair_dec Z.eq_dec Pos.eq_dec.
Definition call_dec (c c' : call) : {c = c'} + {c <> c'}.
Proof. decide equality; (apply Pos.eq_dec || apply (option_dec Z.eq_dec) || apply (option_dec Pos.eq_dec)). Defined.
Definition idle (c : call) : bool := match c with Read _ _ => true | _ => false end.
Lemma idle_same s c s' : idle c = true -> apply s c = Some s' -> s' = s.
Proof. destruct c; simpl; try easy. destruct (_ && _); congruence. Qed.
End Versioned.

(** What owners hold: of a lock, one owner up to [most] times; of a semaphore, all owners together its permits. *)
Module Owned.
Inductive limit := Most (n : Z) | Permits (n : Z).
Record call := Hold { owner : positive; change : Z }.
Definition state := list (positive * Z).
Definition apply (l : limit) (s : state) (c : call) : option state :=
  let others := filter (fun h => negb (Pos.eqb (fst h) (owner c))) s in
  let mine := fold_right (fun h n => if Pos.eqb (fst h) (owner c) then snd h + n else n) (change c) s in
  let allowed := match l with
    | Most n => match others with [] => mine <=? n | _ => false end
    | Permits n => fold_right (fun h n => snd h + n) mine others <=? n end in
  if (0 <=? mine) && allowed then Some (if mine =? 0 then others else (owner c, mine) :: others) else None.
Definition state_dec : forall s s' : state, {s = s'} + {s <> s'} := list_eq_dec (pair_dec Pos.eq_dec Z.eq_dec).
Definition call_dec (c c' : call) : {c = c'} + {c <> c'}.
Proof. decide equality; [apply Z.eq_dec|apply Pos.eq_dec]. Defined.
Definition idle (_ : call) : bool := false.
Lemma idle_same l s c s' : idle c = true -> apply l s c = Some s' -> s' = s.
Proof. easy. Qed.
End Owned.

(** A lock that gives out fences: greater ones to each new holder; 0 stands for none that is known. *)
Module Fenced.
Inductive call := Acquire (owner : positive) (fence : Z) | Release (owner : positive).
Record state := State { holder : option positive; holds : Z; current : Z; greatest : Z }.
Definition holds_it (s : state) (o : positive) : bool := match holder s with Some h => Pos.eqb h o | None => false end.
Definition apply (most : Z) (s : state) (c : call) : option state :=
  match c with
  | Release o =>
    if (holds s =? 0) || negb (holds_it s o) then None
    else if holds s =? 1 then Some (State None 0 0 (greatest s)) else Some (State (holder s) (holds s - 1) (current s) (greatest s))
  | Acquire o fence =>
    if negb (holds s =? 0) && (negb (holds_it s o) || (holds s =? most)) then None
    else if negb (current s =? 0) then
      if (fence =? 0) || (fence =? current s) then Some (State (holder s) (holds s + 1) (current s) (greatest s)) else None
    else if (fence =? 0) || (greatest s <? fence) then Some (State (Some o) (holds s + 1) fence (Z.max fence (greatest s))) else None
  end.
Definition state_dec (s s' : state) : {s = s'} + {s <> s'}.
Proof. decide equality; try apply Z.eq_dec. apply (option_dec Pos.eq_dec). Defined.
Definition call_dec (c c' : call) : {c = c'} + {c <> c'}.
Proof. decide equality; (apply Z.eq_dec || apply Pos.eq_dec). Defined.
Definition idle (_ : call) : bool := false.
Lemma idle_same most s c s' : idle c = true -> apply most s c = Some s' -> s' = s.
Proof. easy. Qed.
End Fenced.

(** Accounts, from which more can be taken than they have only if [negative]. *)
Module Bank.
Inductive call := Read (all : list (positive * Z)) | Transfer (from to : positive) (amount : Z) | Nothing.
Definition state := list (positive * Z).
Definition balance (s : state) (a : positive) : Z := match find (fun x => Pos.eqb (fst x) a) s with Some x => snd x | None => 0 end.
Definition set (s : state) (a : positive) (n : Z) : state := (a, n) :: filter (fun x => negb (Pos.eqb (fst x) a)) s.
Definition agree (s t : state) : bool := forallb (fun x => balance t (fst x) =? balance s (fst x)) s.
Definition apply (negative : bool) (s : state) (c : call) : option state :=
  match c with
  | Read all => if agree all s && agree s all then Some s else None
  | Transfer from to amount =>
    let left := balance s from - amount in
    if negative || (0 <=? left) then
      if Pos.eqb from to || (amount =? 0) then Some s else let s := set s from left in Some (set s to (balance s to + amount))
    else None
  | Nothing => Some s
  end.
Definition state_dec : forall s s' : state, {s = s'} + {s <> s'} := list_eq_dec (pair_dec Pos.eq_dec Z.eq_dec).
Definition call_dec (c c' : call) : {c = c'} + {c <> c'}.
Proof. decide equality; (apply Z.eq_dec || apply Pos.eq_dec || apply state_dec). Defined.
Definition idle (c : call) : bool := match c with Transfer from to amount => Pos.eqb from to || (amount =? 0) | _ => true end.
Lemma idle_same negative s c s' : idle c = true -> apply negative s c = Some s' -> s' = s.
Proof. destruct c; simpl; try (destruct (_ && _); congruence); try congruence. intros ->. destruct (_ || _); congruence. Qed.
End Bank.

(** A log: its elements from the last to the first, and how many there are. *)
Module Log.
Inductive call := Append (v : positive) (at_ expected : option Z) | ReadAt (offset : Z) (v : positive) | Tail (n : Z) | ReadAll (vs : list positive) | Nothing.
Definition state := (list positive * Z)%type.
Definition apply (nothing : positive) (s : state) (c : call) : option state :=
  match c with
  | Append v at_ expected => if fits at_ (snd s) && fits expected (snd s) then Some (v :: fst s, snd s + 1) else None
  | ReadAt offset v =>
    let found := if (0 <=? offset) && (offset <? snd s) then nth (Z.to_nat (snd s - 1 - offset)) (fst s) nothing else nothing in
    if Pos.eqb found v then Some s else None
  | Tail n => if n =? snd s then Some s else None
  | ReadAll vs => if equal (rev' vs) (fst s) then Some s else None
  | Nothing => Some s
  end.
Definition state_dec : forall s s' : state, {s = s'} + {s <> s'} := pair_dec (list_eq_dec Pos.eq_dec) Z.eq_dec.
Definition call_dec (c c' : call) : {c = c'} + {c <> c'}.
Proof. decide equality; (apply Z.eq_dec || apply Pos.eq_dec || apply (option_dec Z.eq_dec) || apply (list_eq_dec Pos.eq_dec)). Defined.
(** An append at two different offsets never happens. *)
Definition idle (c : call) : bool := match c with Append _ (Some a) (Some b) => negb (a =? b) | Append _ _ _ => false | _ => true end.
Lemma idle_same nothing s c s' : idle c = true -> apply nothing s c = Some s' -> s' = s.
Proof.
  destruct c as [v [a|] [b|]| | | |]; simpl; try easy.
  - destruct (Z.eqb_spec a b); [easy|]. destruct (Z.eqb_spec a (snd s)); [|easy]. destruct (Z.eqb_spec b (snd s)); [congruence|easy].
  - destruct (Pos.eqb _ _); congruence.
  - destruct (_ =? _); congruence.
  - destruct (equal _ _); congruence.
  - congruence.
Qed.
End Log.

(** A lease: its owner, the epoch, and whether that is known exactly or is at least this. *)
Module Lease.
Inductive call := Claim (owner : positive) (epoch : option Z) | Renew (owner : option positive) (epoch : option Z)
  | Release (owner : positive) (epoch : option Z) | Nothing.
Record state := State { holder : option positive; current : Z; exact : bool }.
Definition owner_dec := option_dec Pos.eq_dec.
Definition held_by (s : state) (o : option positive) (epoch : option Z) : option state :=
  if owner_dec (holder s) o then
    match epoch with
    | None => Some s
    | Some e => if (exact s && negb (e =? current s)) || (e <? current s) then None else Some (State (holder s) e true)
    end
  else None.
Definition apply (s : state) (c : call) : option state :=
  match c with
  | Claim o None => Some (State (Some o) (current s + 1) false)
  | Claim o (Some e) => if current s <? e then Some (State (Some o) e true) else None
  | Renew o e => held_by s o e
  | Release o e => match held_by s (Some o) e with Some s => Some (State None (current s) (exact s)) | None => None end
  | Nothing => Some s
  end.
Definition state_dec (s s' : state) : {s = s'} + {s <> s'}.
Proof. decide equality; (apply bool_dec || apply Z.eq_dec || apply owner_dec). Defined.
Definition call_dec (c c' : call) : {c = c'} + {c <> c'}.
Proof. decide equality; (apply Pos.eq_dec || apply owner_dec || apply (option_dec Z.eq_dec)). Defined.
Definition idle (c : call) : bool := match c with Nothing | Renew _ None => true | _ => false end.
Lemma idle_same s c s' : idle c = true -> apply s c = Some s' -> s' = s.
Proof. destruct c as [|o [e|]| |]; simpl; try easy; [|congruence]. unfold held_by. destruct (owner_dec _ _); [congruence|easy]. Qed.
End Lease.

(** Lists that transactions append to and read; each is kept from its last element to its first. *)
Module Lists.
Inductive micro := Append (k v : positive) | Read (k : positive) (vs : list positive).
Definition state := list (positive * list positive).
Definition list_of (s : state) (k : positive) : list positive := match find (fun x => Pos.eqb (fst x) k) s with Some x => snd x | None => [] end.
Definition do (s : state) (m : micro) : option state :=
  match m with
  | Append k v => Some ((k, v :: list_of s k) :: filter (fun x => negb (Pos.eqb (fst x) k)) s)
  | Read k vs => if equal (rev' vs) (list_of s k) then Some s else None
  end.
Fixpoint apply (s : state) (c : list micro) : option state :=
  match c with [] => Some s | m :: c => match do s m with Some s => apply s c | None => None end end.
Definition state_dec : forall s s' : state, {s = s'} + {s <> s'} := list_eq_dec (pair_dec Pos.eq_dec (list_eq_dec Pos.eq_dec)).
Definition micro_dec (m m' : micro) : {m = m'} + {m <> m'}.
Proof. decide equality; (apply Pos.eq_dec || apply (list_eq_dec Pos.eq_dec)). Defined.
Definition call_dec : forall c c' : list micro, {c = c'} + {c <> c'} := list_eq_dec micro_dec.
Definition idle (c : list micro) : bool := forallb (fun m => match m with Read _ _ => true | _ => false end) c.
Lemma idle_same s c s' : idle c = true -> apply s c = Some s' -> s' = s.
Proof.
  unfold idle. revert s. induction c as [|m c IH]; simpl; intros s I A; [congruence|]. destruct m; [easy|]. simpl in *.
  destruct (equal _ _); [auto|easy].
Qed.
End Lists.
