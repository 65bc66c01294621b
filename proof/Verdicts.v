(** What a certificate says, and the program that judges whether it proves that. [Says] and [Sound] are trusted, since the theorems of Models.v are about them. *)

From Coq Require Import List PArith ZArith Bool.
From Clew Require Import History Order First Core Projection Check.
Import ListNotations.

(** ** Data types

The program of a data type: the steps of its states, and what a core of operations may leave out. *)
Record checker {call est : Type} := Checker {
  next_of : est -> call -> option unit -> list est;
  eqb_of : est -> est -> bool;
  same_of : call -> option unit -> call -> option unit -> bool;
  pure_of : call -> option unit -> bool;
  restrict_of : (op call unit -> bool) -> est -> list (op call unit) -> option (est * list (op call unit));
  hopeless_of : est -> op call unit -> list (op call unit) -> list (op call unit) -> bool;
  moves_of : call -> option unit -> call -> option unit -> bool }.
Arguments checker : clear implicits.
Definition Proved {call est state} (step : state -> call -> unit -> state -> Prop) (abs : est -> state -> Prop) (c : checker call est) : Prop :=
  Laws step (next_of c) abs (eqb_of c) (same_of c) (pure_of c) (restrict_of c) /\ HopelessSound step abs (hopeless_of c) /\ MovesSound step (moves_of c).
(** For a data type that says nothing about what is out of reach, or what may happen earlier. *)
Definition never {est call : Type} (_ : est) (_ : op call unit) (_ _ : list (op call unit)) : bool := false.
Definition stays {call : Type} (_ : call) (_ : option unit) (_ : call) (_ : option unit) : bool := false.
Lemma no_more {call est state} (step : state -> call -> unit -> state -> Prop) (abs : est -> state -> Prop) : HopelessSound step abs never /\ MovesSound step stays.
Proof. easy. Qed.

(** A claim is data: which operations form a pattern. [refute] checks it against a history. *)
Record data_type {call est claim : Type} := DataType {
  program : checker call est;
  start : est;
  refute : claim -> list (op call unit) -> verdict }.
Arguments data_type : clear implicits.
(** For a data type without patterns. *)
Definition no_claims {call : Type} (c : Empty_set) (_ : list (op call unit)) : verdict := match c with end.

(** ** Certificates

An order of all operations; or, when some operation returned, an order of what came before, and a core of operations that have no linearization, or a pattern;
or a pattern of the whole history, which says nothing about the first failure. Operations have the times of their invocations. *)
Inductive certificate {claim : Type} :=
  | Order (order : list positive)
  | Core (time : positive) (before core : list positive)
  | Pattern (time : positive) (before : list positive) (c : claim)
  | Anomaly (c : claim).
Arguments certificate : clear implicits.

Definition Says {call state claim : Type} (step : state -> call -> unit -> state -> Prop) (s : state) (h : list (op call unit)) (c : certificate claim) : Prop :=
  match c with
  | Order _ => Linearizable step s h
  | Core time _ _ | Pattern time _ _ => FirstFailure step s h time /\ ~ Linearizable step s h
  | Anomaly _ => ~ Linearizable step s h
  end.

(** What need not be trusted: which states are met again, hashes, the search for configurations, and the order of returns. *)
Record proposals {call est : Type} := Proposals {
  distinct : list est -> list est -> bool;
  hash : config (est := est) -> positive;
  search : list (op call unit * list (op call unit)) -> list (op call unit) -> op call unit -> list (config (est := est)) -> list (config (est := est)) * list (config (est := est));
  targets : list (op call unit) -> list (positive * positive) }.
Arguments proposals : clear implicits.

Definition judge {call est claim} (d : data_type call est claim) (p : proposals call est) (h : list (op call unit)) (c : certificate claim) : verdict :=
  let t := program d in
  match c with
  | Order order => check_valid (next_of t) (distinct p) (start d) h order
  | Core time before core =>
    check_invalid (next_of t) (eqb_of t) (same_of t) (pure_of t) (restrict_of t) (distinct p) (hash p) (hopeless_of t) (moves_of t) (search p) (targets p) (start d) h time before core
  | Pattern time before c => check_first (next_of t) (distinct p) (refute d c) (start d) h time before
  | Anomaly c => if sorted h then if sane h then refute d c h else Rejected Unsorted 1 else Rejected Unsorted 1
  end.

(** What is accepted is true of this specification, from this initial state, whatever is proposed. *)
Definition Sound {call est claim state} (step : state -> call -> unit -> state -> Prop) (s : state) (d : data_type call est claim) : Prop :=
  forall p h c, judge d p h c = Accepted -> Says step s h c.

Theorem sound {call est claim state} (step : state -> call -> unit -> state -> Prop) (abs : est -> state -> Prop) s (d : data_type call est claim) :
  Proved step abs (program d) -> abs (start d) s -> (forall c, Refutes step s (refute d c)) -> Sound step s d.
Proof.
  intros (L & P & M) A R p h [order|time before core|time before c|c]; simpl; intros C.
  - eapply check_valid_sound; eauto.
  - eapply check_invalid_sound; eauto.
  - eapply check_first_sound; eauto.
  - destruct (sorted h) eqn:S; [|easy]. destruct (sane h) eqn:W; [|easy]. eapply R; eauto.
Qed.
