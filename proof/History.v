(** What is trusted: this page, [Says] and [Sound] in Verdicts.v, the statements of the theorems in Models.v, and the specifications that they name. docs/proof.md lists it all, with the
reader. History_Examples.v has small histories, with what this page says about them.

It states Herlihy and Wing's linearizability for a history with crashed operations, and which completion is the first to fail. The latter
uses hindsight: see below. *)

From Coq Require Import List PArith.
Import ListNotations.
Open Scope positive_scope.

(** ** Histories

The events of a history are numbered in the order in which they happened, and times are those numbers. So no two invocations have the same time,
and an operation returns after its invocation; the programs check both ([sorted] in Order.v, [sane] in First.v). An operation has the time of its
invocation, what was called, and what became of it. An operation that failed did not happen, so it is not part of a history.

All data types of Spec_*.v have the type [unit] of answers: what an operation saw is a part of its call, so a read that saw 5 is another call than
one that saw 6, and cannot happen in the same states. *)

Section History.
Context {call answer : Type}.

Inductive outcome :=
  | Returned (time : positive) (a : answer)
  | Open (a : answer)  (* it will return this answer after the end of this part of the history; only in a [prefix] *)
  | Crashed.           (* it may have taken effect, with any answer, or not *)

Record op := Op { inv : positive; what : call; became : outcome }.

Definition ret (o : op) : option positive := match became o with Returned t _ => Some t | _ => None end.
Definition known (o : op) : option answer := match became o with Returned _ a | Open a => Some a | Crashed => None end.

(** One operation precedes another one if it returned before the other one was invoked. *)
Definition precedes (x y : op) : Prop := exists t, ret x = Some t /\ t < inv y.

(** ** Specifications

[step s c a s'] says that the call [c] in state [s] may answer [a] and leave state [s']. *)

Context {state : Type}.
Variable step : state -> call -> answer -> state -> Prop.

Definition acts (c : call) (k : option answer) (s s' : state) : Prop :=
  match k with Some a => step s c a s' | None => exists a, step s c a s' end.

Definition effect (o : op) : state -> state -> Prop := acts (what o) (known o).

Inductive run : state -> list op -> Prop :=
  | run_nil s : run s []
  | run_cons s o s' os : effect o s s' -> run s' os -> run s (o :: os).

(** If one operation precedes another one, it does not stand behind it. *)
Fixpoint in_time (os : list op) : Prop :=
  match os with [] => True | x :: behind => (forall y, In y behind -> ~ precedes y x) /\ in_time behind end.

(** A linearization has operations of the history, each at most once, and all that returned. *)
Record linearization (init : state) (h os : list op) : Prop := {
  once : NoDup os;
  of_history : incl os h;
  has_returned : forall o, In o h -> ret o <> None -> In o os;
  respects_time : in_time os;
  runs : run init os }.

Definition Linearizable (init : state) (h : list op) : Prop := exists os, linearization init h os.

(** ** The first failing completion

The history up to a time has the operations invoked by then. Those that return later are open: they have the answers that they will
return. Herlihy and Wing would let an open operation answer anything. With what it will answer, a history may fail earlier: if a dequeue that is
open will return 7, it cannot have taken the 1 that stood in the way of another dequeue. *)

Fixpoint prefix (time : positive) (h : list op) : list op :=
  match h with
  | [] => []
  | o :: h =>
    if inv o <=? time then
      match became o with
      | Returned t a => if t <=? time then o else Op (inv o) (what o) (Open a)
      | _ => o
      end :: prefix time h
    else prefix time h
  end.

(** Up to this time the history has no linearization, and up to every earlier time it has one. Such a time is that of a completion: an invocation
adds nothing that must be in a linearization. *)
Definition FirstFailure (init : state) (h : list op) (time : positive) : Prop :=
  ~ Linearizable init (prefix time h) /\ forall before, before < time -> Linearizable init (prefix before h).

End History.
Arguments outcome : clear implicits.
Arguments op : clear implicits.
