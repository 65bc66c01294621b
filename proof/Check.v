(** What a certificate proves: that a history is linearizable, or that it is not, and which completion is the first to fail. *)

From Coq Require Import List PArith FMapPositive Bool Lia.
From Clew Require Import History Order First Core Projection.
Import ListNotations.
Open Scope positive_scope.

Section Check.
Context {call answer state est : Type}.
Notation op := (op call answer).
Variable step : state -> call -> answer -> state -> Prop.
Variable next : est -> call -> option answer -> list est.
Variable abs : est -> state -> Prop.
Variable eqb : est -> est -> bool.
Variable same : call -> option answer -> call -> option answer -> bool.
Variable pure : call -> option answer -> bool.
Variable restrict : (op -> bool) -> est -> list op -> option (est * list op).

(** What is left of a history, and of the initial state, has a linearization if the history has one. *)
Definition RestrictSound := forall kept e h e' h', restrict kept e h = Some (e', h') -> sorted h = true -> sane h = true ->
  forall s, abs e s -> Linearizable step s h -> exists s', abs e' s' /\ Linearizable step s' h'.

Record Laws := {
  next_sound : NextSound step next abs;
  next_complete : NextComplete step next abs;
  eqb_sound : EqbSound abs eqb;
  same_sound : SameSound same;
  pure_sound : PureSound step pure;
  restrict_sound : RestrictSound }.
Hypothesis laws : Laws.

Variable distinct : list est -> list est -> bool.
Variable hash : config (est := est) -> positive.
Variable hopeless : est -> op -> list op -> list op -> bool.
Hypothesis hopeless_sound : HopelessSound step abs hopeless.
Variable moves : call -> option answer -> call -> option answer -> bool.
Hypothesis moves_sound : MovesSound step moves.
Variable search : list (op * list op) -> list op -> op -> list (config (est := est)) -> list (config (est := est)) * list (config (est := est)).
Variable targets : list op -> list (positive * positive).

Definition check_valid (init : est) (h : list op) (order : list positive) : verdict := check_order next distinct init h order.

Theorem check_valid_sound init h order s : check_valid init h order = Accepted -> abs init s -> Linearizable step s h.
Proof. apply check_order_sound. apply laws. Qed.

(** Of a history that is not linearizable, [refute] shows it up to a completion that fails. An order of everything before shows that it is the first. *)
Definition Refutes (s : state) (refute : list op -> verdict) : Prop :=
  forall h, sorted h = true -> sane h = true -> refute h = Accepted -> ~ Linearizable step s h.
Definition check_first (refute : list op -> verdict) (init : est) (h : list op) (time : positive) (before : list positive) : verdict :=
  if sorted h then
    if sane h then
      match check_order next distinct init (begun_by (Pos.pred time) h) before with
      | Accepted => refute (begun_by time h)
      | no => no
      end
    else Rejected Unsorted 1
  else Rejected Unsorted 1.
Theorem check_first_sound refute init h time before s : check_first refute init h time before = Accepted -> abs init s -> Refutes s refute ->
  FirstFailure step s h time /\ ~ Linearizable step s h.
Proof.
  unfold check_first. rewrite !begun_by_prefix. destruct (sorted h) eqn:S; [|easy]. destruct (sane h) eqn:W; [|easy].
  destruct (check_order _ _ _ _ _) eqn:O; [|easy]. intros C A R. assert (N := R _ (prefix_sorted _ _ S) (prefix_sane _ _ W) C).
  split; [|eapply whole_fails; eauto]. apply first_sound; auto. eapply check_order_sound; eauto. apply laws.
Qed.

Definition members (ids : list positive) : PM.t unit := fold_left (fun m i => PM.add i tt m) ids (PM.empty _).
Definition refute_core (init : est) (core : list positive) (h : list op) : verdict :=
  let set := members core in
  match restrict (fun o => match PM.find (inv o) set with Some _ => true | None => false end) init h with
  | Some (init', h') => check_core next eqb same pure hash search hopeless moves init' h' (targets h')
  | None => Rejected NotAlone 1
  end.
Definition check_invalid (init : est) (h : list op) (time : positive) (before core : list positive) : verdict :=
  check_first (refute_core init core) init h time before.
Theorem check_invalid_sound init h time before core s : check_invalid init h time before core = Accepted -> abs init s ->
  FirstFailure step s h time /\ ~ Linearizable step s h.
Proof.
  intros C A. eapply check_first_sound; eauto. intros part S W. unfold refute_core. destruct (restrict _ init part) as [(init' & h')|] eqn:R; [|easy]. intros K L.
  destruct (restrict_sound laws _ _ _ _ _ R S W s A L) as (s' & A' & L'). revert L'. eapply check_core_sound; eauto; apply laws.
Qed.

End Check.

(** Most data types need a relation between equal states only. *)
Section Idle.
Context {call answer state est : Type}.
Notation op := (op call answer).
Variable step : state -> call -> answer -> state -> Prop.
Variable abs : est -> state -> Prop.
Variable pure : call -> option answer -> bool.
Hypothesis pure_sound : PureSound step pure.

(** Only operations that change nothing may be left out. *)
Definition only_idle (kept : op -> bool) (e : est) (h : list op) : option (est * list op) :=
  if forallb (fun o => if kept o then true else pure (what o) (known o)) h then Some (e, collect (some_of kept) h) else None.
Theorem only_idle_sound : RestrictSound step abs only_idle.
Proof.
  unfold only_idle. intros kept e h e' h' H S _ s A L. rewrite collect_chosen in H. destruct (forallb _ h) eqn:F; [|easy]. injection H as <- <-.
  exists s. split; auto. apply idle_sound; auto. rewrite forallb_forall in F. intros o x x1 Ho Ko E. specialize (F _ Ho). rewrite Ko in F. eapply pure_sound; eauto.
Qed.
End Idle.
