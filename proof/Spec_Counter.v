(** Numbers: counter, counting-semaphore, mutex and semaphore. An operation adds a number to the state, perhaps 0, and may tell what is then there.
A mutex is a number from 0 to 1, a semaphore one from 0 to its permits. *)

From Coq Require Import List ZArith Bool Lia.
From Clew Require Import History Check Plain Bounds.
Import ListNotations.
Open Scope Z_scope.

Section Counter.
(** ** What is trusted *)
Variable least most : option Z.
Record call := Shift { amount : Z; told : option Z }.
Definition within (n : Z) : Prop := match least with Some l => l <= n | None => True end /\ match most with Some m => n <= m | None => True end.
Definition does (s : Z) (c : call) (s' : Z) : Prop :=
  s' = s + amount c /\ within s' /\ match told c with Some n => s' = n | None => True end.

(** ** The same as a program *)
Definition outcomes (s : Z) (c : call) : list Z :=
  let n := s + amount c in
  if match least with Some l => l <=? n | None => true end then
    if match most with Some m => n <=? m | None => true end then
      if match told c with Some t => n =? t | None => true end then [n] else []
    else []
  else [].
Definition option_eqb (a b : option Z) : bool := match a, b with Some x, Some y => x =? y | None, None => true | _, _ => false end.
Definition call_eqb (c c' : call) : bool := if amount c =? amount c' then option_eqb (told c) (told c') else false.
Definition idle (c : call) : bool := amount c =? 0.

Theorem laws : Laws (step does) (next outcomes) abs Z.eqb (same call_eqb) (pure idle) (restrict idle).
Proof.
  apply laws.
  - intros s c s'. unfold outcomes, does, within. split.
    + intros H. destruct least as [l|]; [destruct (Z.leb_spec l (s + amount c)); [|easy]|];
        (destruct most as [m|]; [destruct (Z.leb_spec (s + amount c) m); [|easy]|]);
        (destruct (told c) as [t|]; [destruct (Z.eqb_spec (s + amount c) t); [|easy]|]); destruct H as [<-|[]]; auto.
    + intros (-> & [L M] & T). destruct least as [l|]; [destruct (Z.leb_spec l (s + amount c)); [|lia]|];
        (destruct most as [m|]; [destruct (Z.leb_spec (s + amount c) m); [|lia]|]);
        (destruct (told c) as [t|]; [destruct (Z.eqb_spec (s + amount c) t); [|easy]|]); now left.
  - intros s s'. apply Z.eqb_eq.
  - intros [a t] [a' t']. unfold call_eqb. simpl. destruct (Z.eqb_spec a a') as [->|]; [|easy]. intros H. f_equal.
    destruct t, t'; simpl in H; try easy. now apply Z.eqb_eq in H as ->.
  - intros s c s' I (-> & _). unfold idle in I. apply Z.eqb_eq in I. rewrite I. apply Z.add_0_r.
Qed.

(** What was told says where the number must be. *)
Definition asks (c : call) : list (positive * option Z * option Z) :=
  match told c with Some n => [(1%positive, Some (n - amount c), Some (n - amount c))] | None => [] end.
Theorem bounded : Bounded does (fun _ s => s) (fun c _ => Some (amount c)) (fun c _ => Some (- amount c)) asks.
Proof.
  constructor; unfold asks; intros s c s'; [intros i n (-> & _) E; injection E; lia..|intros i n m|intros i n m]; intros (-> & _ & T); destruct (told c) as [t|]; try easy;
    intros [E|[]]; injection E; intros; lia.
Qed.

(** Numbers may be added in any order, unless that leads out of the bounds, or one of them is told. *)
Definition moves (x y : call) : bool :=
  match told x, told y with
  | None, None =>
    if match least with Some _ => (amount y <=? 0) || (amount y <=? amount x) | None => true end
    then match most with Some _ => (0 <=? amount y) || (amount x <=? amount y) | None => true end else false
  | _, _ => false
  end.
Theorem moves_ok x y s s1 s2 : moves x y = true -> does s y s1 -> does s1 x s2 -> exists s1', does s x s1' /\ does s1' y s2.
Proof.
  unfold moves, does, within. destruct x as [a [n|]], y as [b [m|]]; simpl; try easy. intros M (-> & (L1 & M1) & _) (-> & (L2 & M2) & _).
  exists (s + a). replace (s + b + a) with (s + a + b) in * by lia.
  assert (B : (match least with Some l => l <= s + a | None => True end) /\ match most with Some l => s + a <= l | None => True end); [|tauto].
  destruct least as [l|]; [destruct (Z.leb_spec b 0), (Z.leb_spec b a); simpl in M; try easy|];
    (destruct most as [l'|]; [destruct (Z.leb_spec 0 b), (Z.leb_spec a b); simpl in M; try easy|]); lia.
Qed.
End Counter.
