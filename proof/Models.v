(** The data types, with the theorems about their certificates. *)

From Coq Require Import List PArith ZArith FMapPositive Bool.
From Clew Require Import History Order First Core Projection Check Plain Cycles Facts Reigns.
From Clew Require Elements Holders Sums.
From Clew Require Spec_Registers Spec_Containers Spec_Counter Spec_Set Spec_Ids Spec_Others Stored.
Import ListNotations.

(** ** Any data type *)
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
Lemma no_more {est call state} (step : state -> call -> unit -> state -> Prop) (abs : est -> state -> Prop) : HopelessSound step abs never /\ MovesSound step stays.
Proof. easy. Qed.
Lemma stays_sound {call state} (step : state -> call -> unit -> state -> Prop) : MovesSound step stays.
Proof. easy. Qed.

Section Any.
Context {call est state : Type}.
Variable step : state -> call -> unit -> state -> Prop.
Variable abs : est -> state -> Prop.
Variable c : checker call est.
Hypothesis proved : Proved step abs c.
(* What need not be trusted: which states are met again, hashes, the search, and the order of returns. *)
Variable distinct : list est -> list est -> bool.
Variable hash : config (est := est) -> positive.
Variable search : list (op call unit * list (op call unit)) -> list (op call unit) -> op call unit -> list (config (est := est)) -> list (config (est := est)) * list (config (est := est)).
Variable targets : list (op call unit) -> list (positive * positive).
Variables (init : est) (s : state) (h : list (op call unit)).
Hypothesis same_init : abs init s.

Definition valid := check_valid (next_of c) distinct init h.
Definition invalid := check_invalid (next_of c) (eqb_of c) (same_of c) (pure_of c) (restrict_of c) distinct hash (hopeless_of c) (moves_of c) search targets init h.

Theorem check_valid_sound order : valid order = Accepted -> Linearizable step s h.
Proof. intros H. eapply (valid_sound step); eauto. apply proved. Qed.
Theorem check_invalid_sound time before core : invalid time before core = Accepted -> FirstFailure step s h time /\ ~ Linearizable step s h.
Proof. intros H. eapply (invalid_sound step); eauto; apply proved. Qed.
End Any.

(** ** register, cas-register, multi-register, lookup-set and kv *)
Definition registers {value} (eqb : value -> value -> bool) (join : value -> value -> value) : checker (list Spec_Registers.micro) Spec_Registers.est :=
  Checker _ _ (Spec_Registers.next eqb join) (Spec_Registers.eqb eqb) (Spec_Registers.same eqb) Spec_Registers.pure (Spec_Registers.restrict eqb) never stays.
Theorem registers_proved {value} (eqb : value -> value -> bool) join : Spec_Registers.ValueEqb eqb ->
  Proved (Spec_Registers.step eqb join) Spec_Registers.abs (registers eqb join).
Proof. intros H. exact (conj (Spec_Registers.laws eqb H join) (no_more _ _)). Qed.

Definition of_numbers := registers Pos.eqb (fun _ v => v).
Theorem of_numbers_proved : Proved (Spec_Registers.step Pos.eqb (fun _ v => v)) Spec_Registers.abs of_numbers.
Proof. apply registers_proved. intros v u. apply Pos.eqb_eq. Qed.

Lemma equal_true v u : equal v u = true <-> v = u.
Proof. split; [apply equal_spec|]. intros ->. induction u as [|x u IH]; simpl; auto. now rewrite Pos.eqb_refl. Qed.
Definition of_strings := registers equal (fun v u => u ++ v).  (* a string is its bytes, from the last to the first, so that it takes time for what is appended *)
Theorem of_strings_proved : Proved (Spec_Registers.step equal (fun v u => u ++ v)) Spec_Registers.abs of_strings.
Proof. apply registers_proved. intros v u. apply equal_true. Qed.

Definition cas_of_numbers := Spec_Registers.cas Pos.eqb.
Definition cas_of_strings := Spec_Registers.cas equal.
Definition registers_init {value} (nothing : value) (there : list (positive * value)) : Spec_Registers.est :=
  fold_left (fun e c => Spec_Registers.put e (fst c) (snd c)) there (nothing, PM.empty _).
Lemma registers_init_abs {value} (nothing : value) there :
  Spec_Registers.abs (registers_init nothing there) (fold_left (fun s c => Spec_Registers.set s (fst c) (snd c)) there (fun _ => nothing)).
Proof.
  unfold registers_init. assert (A : Spec_Registers.abs (nothing, PM.empty value) (fun _ => nothing)).
  { intros p. unfold Spec_Registers.lookup. simpl. now rewrite PM.gempty. }
  revert A. generalize (nothing, PM.empty value) (fun _ : positive => nothing). induction there as [|[p v] l IH]; simpl; intros e s A; auto.
  apply IH. now apply Spec_Registers.abs_put.
Qed.

(** ** Containers *)
Import Spec_Containers.
Definition fifo : checker call queue := Checker _ _ (next q_put q_take q_heads q_empty q_all q_eqb) q_eqb same pure (restrict q_without) never stays.
Theorem fifo_proved : Proved (step Fifo) q_abs fifo.
Proof. exact (conj fifo_laws (no_more _ _)). Qed.
Lemma fifo_init l : q_abs (l, []) l.
Proof. unfold q_abs. simpl. now rewrite app_nil_r. Qed.
Definition stack : checker call (list positive) := Checker _ _ (next (fun e v => v :: e) s_take s_heads s_empty (fun e => e) list_eqb) list_eqb same pure (restrict (fun _ stays => filter stays)) never stays.
Theorem stack_proved : Proved (step Stack) eq stack.
Proof. exact (conj stack_laws (no_more _ _)). Qed.
Definition unordered : checker call bag := Checker _ _ (next b_put b_take b_heads b_empty b_all b_eqb) b_eqb same pure b_restrict never stays.
Theorem unordered_proved : Proved (step Bag) b_abs unordered.
Proof. exact (conj bag_laws (no_more _ _)). Qed.
Definition priority (rank : positive -> positive) : checker call tree := Checker _ _ (next (p_put rank) p_take p_heads bare p_all p_eqb) p_eqb same pure (restrict p_without) never stays.
Theorem priority_proved rank : Proved (step (Priority rank)) (p_abs rank) (priority rank).
Proof. exact (conj (priority_laws rank) (no_more _ _)). Qed.
Definition bag_init (l : list positive) : bag := fold_left b_put l (PM.empty _).
Lemma bag_init_abs l : b_abs (bag_init l) (rev l).
Proof.
  unfold bag_init. rewrite <- (app_nil_r (rev l)). assert (A : b_abs (PM.empty _) []) by (intros v; unfold held; now rewrite PM.gempty).
  revert A. generalize (PM.empty positive) (@nil positive). induction l as [|v l IH]; simpl; intros e s A; auto.
  rewrite <- app_assoc. simpl. apply IH. now apply b_put_ok.
Qed.

Definition priority_init (rank : positive -> positive) (l : list positive) : tree := fold_left (p_put rank) l Bare.
Lemma priority_init_abs rank l : p_abs rank (priority_init rank l) (rev l).
Proof.
  unfold priority_init. rewrite <- (app_nil_r (rev l)). assert (A : p_abs rank Bare []).
  { split; [easy|]. exists (PM.empty _). split; intros v; unfold held; now rewrite PM.gempty. }
  revert A. generalize Bare (@nil positive). induction l as [|v l IH]; simpl; intros t s A; auto.
  rewrite <- app_assoc. simpl. apply IH. now apply p_put_ok.
Qed.

(** ** Numbers *)
Definition counter (least most : option Z) : checker Spec_Counter.call Z :=
  Checker _ _ (Plain.next (Spec_Counter.outcomes least most)) Z.eqb (Plain.same Spec_Counter.call_eqb) (Plain.pure Spec_Counter.idle) (Plain.restrict Spec_Counter.idle)
    (Bounds.hopeless (fun _ s => s) (fun c _ => Some (Spec_Counter.amount c)) (fun c _ => Some (- Spec_Counter.amount c)%Z) Spec_Counter.asks) (Plain.moves (Spec_Counter.moves least most)).
Theorem counter_proved least most : Proved (Plain.step (Spec_Counter.does least most)) Plain.abs (counter least most).
Proof. exact (conj (Spec_Counter.laws least most) (conj (Bounds.hopeless_sound _ _ _ _ _ (Spec_Counter.bounded least most)) (Plain.moves_sound _ _ (Spec_Counter.moves_ok least most)))). Qed.

(** ** Sets and ids *)
Definition growing_set : checker Spec_Set.call Spec_Set.est := Checker _ _ Spec_Set.next Spec_Set.eqb Spec_Set.same Spec_Set.pure Spec_Set.restrict never stays.
Theorem growing_set_proved : Proved Spec_Set.step Spec_Set.abs growing_set.
Proof. exact (conj Spec_Set.laws (no_more _ _)). Qed.
Lemma set_init l : Spec_Set.abs (Spec_Set.set_of l) (fun v => if in_dec Pos.eq_dec v l then true else false).
Proof.
  destruct (Spec_Set.set_of_spec l) as [C M]. split; auto. intros v. specialize (M v). destruct (in_dec Pos.eq_dec v l), (Spec_Set.mem (Spec_Set.set_of l) v); auto; intuition congruence.
Qed.
Definition ids : checker Spec_Ids.call Spec_Ids.est := Checker _ _ Spec_Ids.next Spec_Ids.eqb Spec_Ids.same Spec_Ids.pure Spec_Ids.restrict never stays.
Theorem ids_proved : Proved Spec_Ids.step Spec_Ids.abs ids.
Proof. exact (conj Spec_Ids.laws (no_more _ _)). Qed.
Definition growing_ids : checker Spec_Ids.Growing.call (option Z) :=
  Checker _ _ Spec_Ids.g_next Spec_Ids.g_eqb Spec_Ids.g_same Spec_Ids.g_pure Spec_Ids.restrict never stays.
Theorem growing_ids_proved : Proved Spec_Ids.Growing.step eq growing_ids.
Proof. exact (conj Spec_Ids.g_laws (no_more _ _)). Qed.

(** ** The others *)
Import Spec_Others.
Definition machine {call state} (apply : state -> call -> option state) state_dec call_dec idle hopeless moves : checker call state :=
  Checker _ _ (Plain.next (outcomes apply)) (state_eqb state_dec) (Plain.same (call_eqb call_dec)) (Plain.pure idle) (Plain.restrict idle) hopeless moves.
Definition versioned := machine Versioned.apply Versioned.state_dec Versioned.call_dec Versioned.idle (Bounds.hopeless (fun _ s => fst s) Versioned.rises (fun _ _ => Some 0%Z) Versioned.asks) stays.
Theorem versioned_proved : Proved (Plain.step (does Versioned.apply)) Plain.abs versioned.
Proof. exact (conj (machine_laws Versioned.apply Versioned.state_dec Versioned.call_dec Versioned.idle Versioned.idle_same) (conj (Bounds.hopeless_sound _ _ _ _ _ Versioned.bounded) (stays_sound _))). Qed.
Definition owned (l : Owned.limit) := machine (Owned.apply l) Owned.state_dec Owned.call_dec Owned.idle never stays.
Theorem owned_proved (l : Owned.limit) : Proved (Plain.step (does (Owned.apply l))) Plain.abs (owned l).
Proof. exact (conj (machine_laws (Owned.apply l) Owned.state_dec Owned.call_dec Owned.idle (Owned.idle_same l)) (no_more _ _)). Qed.
Definition fenced (most : Z) := machine (Fenced.apply most) Fenced.state_dec Fenced.call_dec Fenced.idle never stays.
Theorem fenced_proved (most : Z) : Proved (Plain.step (does (Fenced.apply most))) Plain.abs (fenced most).
Proof. exact (conj (machine_laws (Fenced.apply most) Fenced.state_dec Fenced.call_dec Fenced.idle (Fenced.idle_same most)) (no_more _ _)). Qed.
Definition bank (negative : bool) := machine (Bank.apply negative) Bank.state_dec Bank.call_dec Bank.idle
  (Bounds.hopeless (fun a s => at_key s a) Bank.rises Bank.falls Bank.asks) (Plain.moves (Bank.moves negative)).
Theorem bank_proved (negative : bool) : Proved (Plain.step (does (Bank.apply negative))) Plain.abs (bank negative).
Proof. exact (conj (machine_laws (Bank.apply negative) Bank.state_dec Bank.call_dec Bank.idle (Bank.idle_same negative)) (conj (Bounds.hopeless_sound _ _ _ _ _ (Bank.bounded negative)) (Plain.moves_sound _ _ (Bank.moves_ok negative)))). Qed.
Import Stored.
Definition log (nothing : positive) : checker Log.call StoredLog.est :=
  Checker _ _ (Stored.next (StoredLog.run nothing)) StoredLog.eqb (Plain.same (call_eqb Log.call_dec)) (Plain.pure Log.idle) (Stored.restrict Log.idle) never stays.
Theorem log_proved (nothing : positive) : Proved (Plain.step (does (Log.apply nothing))) StoredLog.abs (log nothing).
Proof.
  exact (conj (Stored.laws _ _ _ _ Log.call_dec Log.idle (StoredLog.run_agrees nothing) StoredLog.eqb_sound (Log.idle_same nothing)) (no_more _ _)).
Qed.
Definition lease := machine Lease.apply Lease.state_dec Lease.call_dec Lease.idle never stays.
Theorem lease_proved : Proved (Plain.step (does Lease.apply)) Plain.abs lease.
Proof. exact (conj (machine_laws Lease.apply Lease.state_dec Lease.call_dec Lease.idle Lease.idle_same) (no_more _ _)). Qed.
Definition list_append : checker (list Lists.micro) StoredLists.est :=
  Checker _ _ (Stored.next StoredLists.run) StoredLists.eqb (Plain.same (call_eqb Lists.call_dec)) (Plain.pure Lists.idle) (Stored.restrict Lists.idle) never stays.
Theorem list_append_proved : Proved (Plain.step (does Lists.apply)) StoredLists.abs list_append.
Proof.
  exact (conj (Stored.laws _ _ _ _ Lists.call_dec Lists.idle StoredLists.run_agrees StoredLists.eqb_sound Lists.idle_same) (no_more _ _)).
Qed.

(** ** Operations that contradict each other *)
Record pattern {call est : Type} := Pattern {
  contradicts_of : est -> list (op call unit) -> op call unit -> op call unit -> bool;
  check_cycle_of : (list est -> list est -> bool) -> est -> list (op call unit) -> positive -> list positive -> op call unit -> op call unit -> verdict }.
Arguments pattern : clear implicits.
Definition Refutes {call est state} (step : state -> call -> unit -> state -> Prop) (abs : est -> state -> Prop) (p : pattern call est) : Prop :=
  forall distinct init s h time before x y, check_cycle_of p distinct init h time before x y = Accepted -> abs init s ->
    FirstFailure step s h time /\ ~ Linearizable step s h.
Section Contradictions.
Context {call est state fact : Type}.
Variable c : checker call est.
Variable view : est -> state.
Variable has : fact -> state -> bool.
Variables tells wants denies makes absurd : call -> fact -> bool.
Variable needs : call -> fact -> fact -> bool.
Variable about : call -> list fact.
Variable given : state -> list fact.
Definition refute (init : state) (x y : op call unit) (part : list (op call unit)) : verdict :=
  cycle init has tells wants denies makes absurd needs part (steps init has tells wants denies makes absurd needs part about given x y).
Definition pattern_of : pattern call est := Pattern _ _
  (fun init part x y => match refute (view init) x y part with Accepted => true | _ => false end)
  (fun distinct init h time before x y => check_cycle (next_of c) distinct (refute (view init) x y) init h time before).
Theorem pattern_sound (does : state -> call -> state -> Prop) (abs : est -> state -> Prop) : Proved (Plain.step does) abs c -> (forall e s f, abs e s -> has f (view e) = has f s) ->
  Growth (Plain.step does) has tells wants denies makes absurd needs -> Refutes (Plain.step does) abs pattern_of.
Proof.
  intros P V G distinct init s h time before x y C A. simpl in C. eapply (check_cycle_sound (Plain.step does) _ abs); eauto; [apply P|].
  intros part _ _. apply (cycle_sound _ _ _ _ (fun f => V _ _ f A) _ _ _ _ _ _ G).
Qed.
End Contradictions.

Definition log_pattern (nothing : positive) :=
  pattern_of (log nothing) StoredLog.view (LogFacts.has nothing) (LogFacts.tells nothing) no LogFacts.denies LogFacts.makes no none (LogFacts.shows nothing) LogFacts.given.
Theorem log_pattern_sound (nothing : positive) : Refutes (Plain.step (does (Log.apply nothing))) StoredLog.abs (log_pattern nothing).
Proof. exact (pattern_sound _ _ _ _ _ _ _ _ _ _ _ _ _ (log_proved nothing) (fun e s f A => f_equal _ (proj2 A)) (LogFacts.growth nothing)). Qed.
Definition itself {state : Type} (s : state) : state := s.
Definition lease_pattern := pattern_of lease itself LeaseFacts.has LeaseFacts.tells LeaseFacts.wants LeaseFacts.denies LeaseFacts.makes no none LeaseFacts.about LeaseFacts.given.
Theorem lease_pattern_sound : Refutes (Plain.step (does Lease.apply)) Plain.abs lease_pattern.
Proof. exact (pattern_sound _ _ _ _ _ _ _ _ _ _ _ _ _ lease_proved (fun e s f A => f_equal _ A) LeaseFacts.growth). Qed.
Definition list_pattern :=
  pattern_of list_append StoredLists.view ListGrowth.have ListGrowth.tells ListGrowth.wants ListFacts.denies ListGrowth.makes ListGrowth.absurd ListGrowth.needs ListFacts.shows ListFacts.given.
Theorem list_pattern_sound : Refutes (Plain.step (does Lists.apply)) StoredLists.abs list_pattern.
Proof.
  refine (pattern_sound _ _ _ _ _ _ _ _ _ _ _ _ _ list_append_proved _ ListGrowth.growth).
  intros e s f A. unfold ListGrowth.have. now rewrite StoredLists.list_of_view, A.
Qed.

(** A longer cycle, which says nothing about the first failure. *)
Definition list_before (init : Lists.state) (h : list (op (list Lists.micro) unit)) : op (list Lists.micro) unit -> op (list Lists.micro) unit -> why -> bool :=
  comes_before init ListGrowth.have ListGrowth.tells ListGrowth.wants ListFacts.denies ListGrowth.makes ListGrowth.absurd ListGrowth.needs h.
Definition list_cycle (init : Lists.state) (h : list (op (list Lists.micro) unit)) : list node -> verdict :=
  cycle init ListGrowth.have ListGrowth.tells ListGrowth.wants ListFacts.denies ListGrowth.makes ListGrowth.absurd ListGrowth.needs h.
Theorem list_cycle_sound init h nodes : list_cycle init h nodes = Accepted -> ~ Linearizable (Plain.step (does Lists.apply)) init h.
Proof. exact (cycle_sound _ _ _ _ (fun f => eq_refl) _ _ _ _ _ _ ListGrowth.growth h nodes). Qed.

(** ** Patterns

[refute] looks at the whole history up to the completion that fails. *)
Definition check_pattern {call est} (c : checker call est) (distinct : list est -> list est -> bool) (refute : list (op call unit) -> verdict)
  (init : est) (h : list (op call unit)) (time : positive) (before : list positive) : verdict := check_cycle (next_of c) distinct refute init h time before.
(** What is proved of each: if it finds its pattern, that completion is the first one that fails. *)
Definition Carries {call est state} (step : state -> call -> unit -> state -> Prop) (abs : est -> state -> Prop) (c : checker call est) (s : state)
  (refute : list (op call unit) -> verdict) : Prop :=
  forall distinct init h time before, check_pattern c distinct refute init h time before = Accepted -> abs init s -> FirstFailure step s h time /\ ~ Linearizable step s h.
Lemma carries {call est state} (step : state -> call -> unit -> state -> Prop) (abs : est -> state -> Prop) c s refute : Proved step abs c ->
  (forall part, sorted part = true -> sane part = true -> refute part = Accepted -> ~ Linearizable step s part) -> Carries step abs c s refute.
Proof. intros P R distinct init h time before C A. eapply check_cycle_sound; eauto. apply P. Qed.

Tactic Notation "places_carry" uconstr(refutes) := intros E; apply carries; [now apply registers_proved|]; intros part; apply refutes;
  [intros; eapply Spec_Registers.reg_looks_sure; eauto|intros; eapply Spec_Registers.reg_makes_sure; eauto|intros; eapply Spec_Registers.reg_makes_only; eauto|easy].
Definition stale_read {value} (eqb : value -> value -> bool) (e : Spec_Registers.est) : stale -> list (op (list Spec_Registers.micro) unit) -> verdict :=
  fun x part => Reigns.stale_read Spec_Registers.at_ Spec_Registers.looks (Spec_Registers.makes eqb) eqb (Spec_Registers.lookup e) part x.
Theorem stale_read_sound {value} (eqb : value -> value -> bool) join e x : Spec_Registers.ValueEqb eqb ->
  Carries (Spec_Registers.step eqb join) Spec_Registers.abs (registers eqb join) (Spec_Registers.lookup e) (stale_read eqb e x).
Proof. places_carry (stale_read_refutes (Spec_Registers.step eqb join)). Qed.
Definition overwritten {value} (eqb : value -> value -> bool) (e : Spec_Registers.est) : unput_value -> list (op (list Spec_Registers.micro) unit) -> verdict :=
  fun x part => Reigns.overwritten Spec_Registers.at_ Spec_Registers.looks (Spec_Registers.makes eqb) eqb (Spec_Registers.lookup e) part x.
Theorem overwritten_sound {value} (eqb : value -> value -> bool) join e x : Spec_Registers.ValueEqb eqb ->
  Carries (Spec_Registers.step eqb join) Spec_Registers.abs (registers eqb join) (Spec_Registers.lookup e) (overwritten eqb e x).
Proof. places_carry (overwritten_refutes (Spec_Registers.step eqb join)). Qed.
Definition stale_of_numbers := stale_read Pos.eqb.
Definition stale_of_strings := stale_read equal.
Definition overwritten_of_numbers := overwritten Pos.eqb.
Definition overwritten_of_strings := overwritten equal.
Definition makes_of_numbers := Spec_Registers.makes Pos.eqb.
Definition makes_of_strings := Spec_Registers.makes equal.
Theorem duplicate_sound {est} k abs (c : checker call est) init v peek : Proved (step k) abs c -> Carries (step k) abs c init (Elements.duplicate init v peek).
Proof. intros P. apply carries; auto. intros part. apply Elements.duplicate_refutes. Qed.
Theorem lost_element_sound {est} k abs (c : checker call est) init vs i : Proved (step k) abs c -> Carries (step k) abs c init (Elements.lost_element k init vs i).
Proof. intros P. apply carries; auto. intros part. apply Elements.lost_element_refutes. Qed.
Theorem fifo_inversion_sound init vs put_in out : Carries (step Fifo) q_abs fifo init (Elements.fifo_inversion init vs put_in out).
Proof. apply carries; [exact fifo_proved|]. intros part. apply Elements.fifo_inversion_refutes. Qed.
Theorem stack_inversion_sound init vs put_in out : Carries (step Stack) eq stack init (Elements.stack_inversion init vs put_in out).
Proof. apply carries; [exact stack_proved|]. intros part. apply Elements.stack_inversion_refutes. Qed.
Theorem two_holders_sound most init x : Carries (Plain.step (Spec_Counter.does (Some 0%Z) (Some most))) Plain.abs (counter (Some 0%Z) (Some most)) init (Holders.number_holders most init x).
Proof. apply carries; [apply counter_proved|]. intros part. apply Holders.number_holders_refutes. Qed.
Theorem owned_holders_sound l x : Carries (Plain.step (does (Owned.apply l))) Plain.abs (owned l) [] (Holders.owned_holders l x).
Proof. apply carries; [apply owned_proved|]. intros part. apply Holders.owned_holders_refutes. Qed.
Theorem fenced_holders_sound most x : Carries (Plain.step (does (Fenced.apply most))) Plain.abs (fenced most) Holders.fenced_start (Holders.fenced_holders most x).
Proof. apply carries; [apply fenced_proved|]. intros part. apply Holders.fenced_holders_refutes. Qed.
Theorem unexplained_sound negative init i : Carries (Plain.step (does (Bank.apply negative))) Plain.abs (bank negative) init (Sums.unexplained init i).
Proof. apply carries; [apply bank_proved|]. intros part. apply Sums.unexplained_refutes. Qed.
