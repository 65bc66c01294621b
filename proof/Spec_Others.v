(** Data types of which only operations that change nothing may be left out: versioned-register, locks and semaphores with owners, locks with
fences, bank, log, lease and list-append. Each [apply] is trusted, with what it uses ([fits], [at_key], [put], [add], and [equal] of lists): it says which state
a call leads to, or that it cannot happen. *)

From Coq Require Import List PArith ZArith Bool Lia.
From Clew Require Import History Order Core Projection Check Plain Bounds.
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

(** Numbers by key, 0 if there is none. Keys are kept in order, so that equal states are equal lists. *)
Definition numbers := list (positive * Z).
Definition at_key (s : numbers) (k : positive) : Z := match find (fun x => Pos.eqb (fst x) k) s with Some x => snd x | None => 0 end.
Fixpoint put (s : numbers) (k : positive) (n : Z) : numbers :=
  match s with
  | [] => [(k, n)]
  | x :: rest => match Pos.compare k (fst x) with Lt => (k, n) :: s | Eq => (k, n) :: rest | Gt => x :: put rest k n end
  end.
Lemma at_put s k n j : at_key (put s k n) j = if Pos.eqb k j then n else at_key s j.
Proof.
  unfold at_key. induction s as [|[i m] s IH]; simpl; [now destruct (Pos.eqb k j)|].
  destruct (Pos.compare_spec k i) as [->|L|G]; simpl; [now destruct (Pos.eqb i j)|now destruct (Pos.eqb k j)|].
  destruct (Pos.eqb_spec i j) as [->|]; auto. destruct (Pos.eqb_spec k j); auto. lia.
Qed.
Lemma put_again s k n m : put (put s k n) k m = put s k m.
Proof.
  induction s as [|[i j] s IH]; simpl; [now rewrite Pos.compare_refl|].
  destruct (Pos.compare_spec k i) as [->|L|G]; simpl; [now rewrite Pos.compare_refl..|]. rewrite IH. now apply Pos.compare_gt_iff in G as ->.
Qed.
Lemma put_put s k n j m : (k < j)%positive -> put (put s k n) j m = put (put s j m) k n.
Proof.
  intros L. assert (L' := L). apply Pos.compare_lt_iff in L'. assert (G : (j ?= k)%positive = Gt) by now apply Pos.compare_gt_iff.
  induction s as [|[i o] s IH]; simpl; [now rewrite G, L'|].
  destruct (Pos.compare_spec k i) as [->|Li|Gi], (Pos.compare_spec j i) as [->|Lj|Gj]; try lia; simpl; rewrite ?G, ?L', ?Pos.compare_refl; simpl; auto;
    repeat match goal with |- context [(?a ?= ?b)%positive] => destruct (Pos.compare_spec a b); try lia; subst end; simpl; auto.
  now rewrite IH.
Qed.
Definition add (s : numbers) (k : positive) (n : Z) : numbers := put s k (at_key s k + n).
Lemma at_add s k n j : at_key (add s k n) j = at_key s j + if Pos.eqb k j then n else 0.
Proof. unfold add. rewrite at_put. destruct (Pos.eqb_spec k j) as [->|]; lia. Qed.
Lemma add_add s k n j m : add (add s k n) j m = add (add s j m) k n.
Proof.
  unfold add at 1 3. rewrite !at_add, (Pos.eqb_sym j k). unfold add. destruct (Pos.eqb_spec k j) as [->|N].
  - rewrite !put_again. f_equal. lia.
  - rewrite !Z.add_0_r. destruct (Pos.lt_total k j) as [|[|]]; [now apply put_put|easy|symmetry; now apply put_put].
Qed.
Definition numbers_dec : forall s s' : numbers, {s = s'} + {s <> s'} := list_eq_dec (pair_dec Pos.eq_dec Z.eq_dec).

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
Definition asks (c : call) : list (positive * option Z * option Z) :=
  match c with Read (Some n) _ => [(1%positive, Some n, Some n)] | Write (Some n) _ | Cas (Some n) _ _ => [(1%positive, Some (n - 1), Some (n - 1))] | _ => [] end.
Definition rises (c : call) (_ : positive) : option Z := match c with Read _ _ => Some 0 | _ => Some 1 end.
Theorem bounded : Bounded (does apply) (fun _ s => fst s) rises (fun _ _ => Some 0) asks.
Proof.
  constructor; unfold does; intros s c s' i n.
  1, 2: destruct c; simpl; destruct (fits _ _ && _) || destruct (fits _ _); try easy; intros E X; injection E as <-; injection X as <-; simpl; lia.
  all: intros m; destruct c as [[v|] u|[v|] u|[v|] u w]; simpl; try easy; [destruct (Z.eqb_spec v (fst s)); simpl|destruct (Z.eqb_spec v (fst s + 1)); simpl..]; try easy;
    intros _ [E|[]]; injection E; lia.
Qed.
End Versioned.

(** What owners hold: of a lock, one owner up to [most] times; of a semaphore, all owners together its permits. *)
Module Owned.
Inductive limit := Most (n : Z) | Permits (n : Z).
Record call := Hold { owner : positive; change : Z }.
Definition state := numbers.
Definition apply (l : limit) (s : state) (c : call) : option state :=
  let others := filter (fun h => negb (Pos.eqb (fst h) (owner c))) s in
  let mine := fold_right (fun h n => if Pos.eqb (fst h) (owner c) then snd h + n else n) (change c) s in
  let allowed := match l with
    | Most n => match others with [] => mine <=? n | _ => false end
    | Permits n => fold_right (fun h n => snd h + n) mine others <=? n end in
  if (0 <=? mine) && allowed then Some (if mine =? 0 then others else put others (owner c) mine) else None.
Definition state_dec : forall s s' : state, {s = s'} + {s <> s'} := numbers_dec.
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
Inductive call := Read (all : numbers) | Transfer (from to : positive) (amount : Z) | Nothing.
Definition state := numbers.
Definition agree (s t : state) : bool := forallb (fun x => at_key t (fst x) =? at_key s (fst x)) s.
Definition apply (negative : bool) (s : state) (c : call) : option state :=
  match c with
  | Read all => if agree all s && agree s all then Some s else None
  | Transfer from to amount =>
    if negative || (amount <=? at_key s from) then
      if Pos.eqb from to || (amount =? 0) then Some s else Some (add (add s from (- amount)) to amount)
    else None
  | Nothing => Some s
  end.
Definition state_dec : forall s s' : state, {s = s'} + {s <> s'} := numbers_dec.
Definition call_dec (c c' : call) : {c = c'} + {c <> c'}.
Proof. decide equality; (apply Z.eq_dec || apply Pos.eq_dec || apply state_dec). Defined.
Definition idle (c : call) : bool := match c with Transfer from to amount => Pos.eqb from to || (amount =? 0) | _ => true end.
Lemma idle_same negative s c s' : idle c = true -> apply negative s c = Some s' -> s' = s.
Proof. destruct c; simpl; try (destruct (_ && _); congruence); try congruence. intros ->. destruct (_ || _); congruence. Qed.
Definition asks (c : call) : list (positive * option Z * option Z) :=
  match c with Read all => map (fun x => (fst x, Some (at_key all (fst x)), Some (at_key all (fst x)))) all | _ => [] end.
Definition rises (c : call) (a : positive) : option Z :=
  match c with Transfer from to amount => Some (if Pos.eqb from to then 0 else if Pos.eqb a to then amount else if Pos.eqb a from then - amount else 0) | _ => Some 0 end.
Definition falls (c : call) (a : positive) : option Z := match rises c a with Some n => Some (- n) | None => None end.
Lemma changes negative s c s' a n : apply negative s c = Some s' -> rises c a = Some n -> at_key s' a = at_key s a + n.
Proof.
  destruct c as [all|from to amount|]; simpl.
  - destruct (_ && _); [|easy]. intros E X; injection E as <-; injection X as <-. lia.
  - destruct (negative || _); [|easy]. destruct (Pos.eqb_spec from to) as [->|N]; simpl; [intros E X; injection E as <-; injection X as <-; lia|].
    destruct (Z.eqb_spec amount 0) as [->|]; intros E X; injection E as <-; injection X as <-; [destruct (Pos.eqb a to), (Pos.eqb a from); lia|].
    rewrite !at_add, (Pos.eqb_sym a to), (Pos.eqb_sym a from). destruct (Pos.eqb_spec to a) as [->|]; [apply Pos.eqb_neq in N; rewrite N; lia|].
    destruct (Pos.eqb_spec from a) as [->|]; lia.
  - intros E X; injection E as <-; injection X as <-. lia.
Qed.
Theorem bounded negative : Bounded (does (apply negative)) (fun a s => at_key s a) rises falls asks.
Proof.
  assert (A : forall s c s' i n m, apply negative s c = Some s' -> In (i, n, m) (asks c) -> n = Some (at_key s i) /\ m = Some (at_key s i)).
  { intros s [all| |] s' i n m; simpl; try easy. destruct (agree all s) eqn:G; [|easy]. intros _ (x & E & Hx)%in_map_iff. injection E as <- <- <-.
    unfold agree in G. rewrite forallb_forall in G. specialize (G _ Hx). apply Z.eqb_eq in G. now rewrite G. }
  constructor; unfold does; intros s c s' i n.
  - intros E X. rewrite (changes _ _ _ _ _ _ E X). lia.
  - intros E. unfold falls. destruct (rises c i) eqn:X; [|easy]. intros Y; injection Y as <-. rewrite (changes _ _ _ _ _ _ E X). lia.
  - intros m E [X _]%(A _ _ _ _ _ _ E). injection X as <-. lia.
  - intros m E [_ X]%(A _ _ _ _ _ _ E). injection X as <-. lia.
Qed.
(** Transfers may happen in any order, unless one needs what another one brings. *)
Definition moves (negative : bool) (x y : call) : bool :=
  match x, y with Transfer from _ m, Transfer _ to n => negative || (negb (Pos.eqb from to) && (0 <=? m) && (0 <=? n)) | _, _ => false end.
Definition moved (c : call) (s : state) : state :=
  match c with Transfer from to n => if Pos.eqb from to || (n =? 0) then s else add (add s from (- n)) to n | _ => s end.
Lemma moved_moved x y s : moved x (moved y s) = moved y (moved x s).
Proof.
  destruct x as [|f t m|], y as [|f' t' n|]; simpl; auto. destruct (Pos.eqb f t || _), (Pos.eqb f' t' || _); auto.
  rewrite (add_add _ t' n f), (add_add _ f' (- n) f), (add_add _ t' n t), (add_add _ f' (- n) t). easy.
Qed.
Theorem moves_ok negative x y s s1 s2 : moves negative x y = true -> does (apply negative) s y s1 -> does (apply negative) s1 x s2 ->
  exists s1', does (apply negative) s x s1' /\ does (apply negative) s1' y s2.
Proof.
  unfold does. intros M Y X. exists (moved x s).
  assert (A : forall c s s', apply negative s c = Some s' -> match c with Transfer _ _ _ => s' = moved c s | _ => True end).
  { intros [|f t n|] s0 s'; simpl; auto. destruct (_ || _); [|easy]. destruct (_ || _); congruence. }
  destruct x as [|f t m|], y as [|f' t' n|]; try easy. assert (Ys := A _ _ _ Y). assert (Xs := A _ _ _ X). simpl in Ys, Xs. subst s1. 
  assert (E : s2 = moved (Transfer f' t' n) (moved (Transfer f t m) s)) by (rewrite <- moved_moved; exact Xs). clear Xs A.
  unfold apply in *. simpl in M. destruct negative; simpl in *.
  - split; [now destruct (Pos.eqb f t || _)|]. rewrite E. simpl. now destruct (Pos.eqb f' t' || _).
  - apply andb_true_iff in M as [[N%negb_true_iff Pm]%andb_true_iff Pn]. apply Z.leb_le in Pm, Pn.
    destruct (Z.leb_spec n (at_key s f')) as [Ln|]; [|easy]. clear Y.
    destruct (m <=? _) eqn:Lm in X; [|easy]. clear X. apply Z.leb_le in Lm.
    assert (L1 : m <= at_key s f).
    { destruct (Pos.eqb f' t' || (n =? 0)); auto. rewrite !at_add, (Pos.eqb_sym t' f), N in Lm. destruct (Pos.eqb f' f); lia. }
    apply Z.leb_le in L1 as L1'. rewrite L1'. split; [now destruct (Pos.eqb f t || _)|].
    assert (L2 : n <= at_key (moved (Transfer f t m) s) f').
    { simpl. destruct (Pos.eqb_spec f t) as [|Nf]; simpl; auto. destruct (Z.eqb_spec m 0); auto. rewrite !at_add.
      destruct (Pos.eqb_spec f f') as [->|]; [|destruct (Pos.eqb t f'); lia].
      destruct (Pos.eqb_spec t f') as [->|]; [easy|]. rewrite N in Lm. simpl in Lm.
      destruct (Z.eqb_spec n 0); [lia|]. rewrite !at_add, Pos.eqb_refl, (Pos.eqb_sym t' f'), N in Lm. lia. }
    simpl in L2. apply Z.leb_le in L2. rewrite L2. rewrite E. simpl. now destruct (Pos.eqb f' t' || _).
Qed.
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

(** Lists that transactions append to and read. Each is kept from its last element to its first, and so is what was read of it: a list and a longer one share memory. *)
Module Lists.
Inductive micro := Append (k v : positive) | Read (k : positive) (vs : list positive).
Definition state := list (positive * list positive).
Definition list_of (s : state) (k : positive) : list positive := match find (fun x => Pos.eqb (fst x) k) s with Some x => snd x | None => [] end.
Definition do (s : state) (m : micro) : option state :=
  match m with
  | Append k v => Some ((k, v :: list_of s k) :: filter (fun x => negb (Pos.eqb (fst x) k)) s)
  | Read k vs => if equal vs (list_of s k) then Some s else None
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
