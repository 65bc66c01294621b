(** The data types, and for each the theorem that says the whole: [Sound step s d], where [step] is its specification, and [s] the initial state. What [judge d]
accepts is true of [step] and [s] (Verdicts.v). *)

From Coq Require Import List PArith ZArith FMapPositive Bool.
From Clew Require Import History Order First Core Projection Check Plain Cycles Facts Reigns Elements Holders Sums Verdicts.
From Clew Require Spec_Registers Spec_Containers Spec_Counter Spec_Set Spec_Ids Spec_Others Stored.
Import ListNotations.

(** ** register, cas-register, multi-register, lookup-set and kv *)
Section Registers.
Import Spec_Registers.
Context {value : Type}.
Variable eqb : value -> value -> bool.
Variable join : value -> value -> value.
(** These places have these values, the last one of each place, and all others have [nothing]. *)
Definition values (nothing : value) (there : list (positive * value)) : state := fold_left (fun s x => set s (fst x) (snd x)) there (fun _ => nothing).
Definition registers (nothing : value) (there : list (positive * value)) : data_type (list micro) est place_claim := DataType _ _ _
  (Checker _ _ (next eqb join) (Spec_Registers.eqb eqb) (same eqb) pure (restrict eqb) never stays)
  (fold_left (fun e x => put e (fst x) (snd x)) there (nothing, PM.empty _))
  (fun c h => place_pattern at_ looks (makes eqb) eqb (values nothing there) h c).
Lemma registers_sound nothing there : ValueEqb eqb -> Sound (step eqb join) (values nothing there) (registers nothing there).
Proof.
  intros E. apply (sound _ abs).
  - exact (conj (laws eqb E join) (no_more _ _)).
  - unfold values. simpl. assert (A : abs (nothing, PM.empty value) (fun _ => nothing)) by (intros p; unfold lookup; simpl; now rewrite PM.gempty).
    revert A. generalize (nothing, PM.empty value) (fun _ : positive => nothing). induction there as [|[p v] l IH]; simpl; intros e s A; auto using abs_put.
  - intros c h. apply (place_pattern_sound (step eqb join)); [intros; eapply reg_looks_sure|intros; eapply reg_makes_sure|intros; eapply reg_makes_only|]; eauto.
Qed.
End Registers.

(** Values are numbers, which are equal if the values are. *)
Definition register := registers Pos.eqb (fun _ v => v).
Theorem register_sound nothing there : Sound (Spec_Registers.step Pos.eqb (fun _ v => v)) (values nothing there) (register nothing there).
Proof. apply registers_sound. intros v u. apply Pos.eqb_eq. Qed.

(** A kv with appends, whose values are strings. A string is its bytes, from the last to the first, so that an append takes time for what is appended. *)
Definition kv_of_strings := registers equal (fun v u => u ++ v).
Theorem kv_of_strings_sound nothing there : Sound (Spec_Registers.step equal (fun v u => u ++ v)) (values nothing there) (kv_of_strings nothing there).
Proof. apply registers_sound. intros v u. split; [apply equal_spec|]. intros ->. induction u as [|x u IH]; simpl; auto. now rewrite Pos.eqb_refl. Qed.

(** ** fifo-queue, stack, unordered-queue and priority-queue *)
Section Containers.
Import Spec_Containers.
(** What is there after these were put in, in turn: what is put into a queue stands last, and into the others first. *)
Definition filled (k : kind) (items : list positive) : list positive := match k with Fifo => items | _ => rev' items end.
Lemma filled_put k items : forall s, fold_left (put k) items s = match k with Fifo => s ++ items | _ => rev_append items s end.
Proof. destruct k; induction items as [|v l IH]; simpl; intros s; rewrite ?app_nil_r, ?IH, <- ?app_assoc; auto. Qed.
Definition container {est : Type} (k : kind) (c : checker call est) (put_ : est -> positive -> est) (none : est) (items : list positive) : data_type call est element_claim :=
  DataType _ _ _ c (fold_left put_ items none) (element_pattern k (filled k items)).
Lemma container_sound {est : Type} k (abs : est -> list positive -> Prop) c put_ none items : Proved (step k) abs c -> abs none [] ->
  (forall e s v, abs e s -> abs (put_ e v) (put k s v)) -> Sound (step k) (filled k items) (container k c put_ none items).
Proof.
  intros P N A. apply (sound _ abs); [exact P| |apply element_pattern_sound]. simpl.
  replace (filled k items) with (fold_left (put k) items []) by (rewrite filled_put; now destruct k).
  revert N. generalize none (@nil positive). induction items as [|v l IH]; simpl; auto.
Qed.

Definition fifo_queue := container Fifo (Checker _ _ (next q_put q_take q_heads q_empty q_all q_eqb) q_eqb same pure (restrict q_without) never stays) q_put ([], []).
Theorem fifo_queue_sound items : Sound (step Fifo) items (fifo_queue items).
Proof.
  apply (container_sound Fifo q_abs); [exact (conj fifo_laws (no_more _ _))|easy|]. unfold q_abs. intros e s v ->. simpl. now rewrite app_assoc.
Qed.
Definition stack :=
  container Stack (Checker _ _ (next (fun e v => v :: e) s_take s_heads s_empty (fun e => e) list_eqb) list_eqb same pure (restrict (fun _ stays => filter stays)) never stays)
    (fun e v => v :: e) [].
Theorem stack_sound items : Sound (step Stack) (rev' items) (stack items).
Proof. apply (container_sound Stack eq); [exact (conj stack_laws (no_more _ _))|easy|]. now intros e s v ->. Qed.
Definition unordered_queue := container Bag (Checker _ _ (next b_put b_take b_heads b_empty b_all b_eqb) b_eqb same pure b_restrict never stays) b_put (PM.empty _).
Theorem unordered_queue_sound items : Sound (step Bag) (rev' items) (unordered_queue items).
Proof.
  apply (container_sound Bag b_abs); [exact (conj bag_laws (no_more _ _))| |exact b_put_ok]. intros v. unfold held. now rewrite PM.gempty.
Qed.
(** The value with the highest rank comes first. *)
Definition priority_queue (rank : positive -> positive) :=
  container (Priority rank) (Checker _ _ (next (p_put rank) p_take p_heads bare p_all p_eqb) p_eqb same pure (restrict p_without) never stays) (p_put rank) Bare.
Theorem priority_queue_sound rank items : Sound (step (Priority rank)) (rev' items) (priority_queue rank items).
Proof.
  apply (container_sound (Priority rank) (p_abs rank)); [exact (conj (priority_laws rank) (no_more _ _))| |exact (p_put_ok rank)].
  split; [easy|]. exists (PM.empty _). split; intros v; unfold held; now rewrite PM.gempty.
Qed.
End Containers.

(** ** set and id-generator *)
Definition growing_set (items : list positive) : data_type Spec_Set.call Spec_Set.est Empty_set := DataType _ _ _
  (Checker _ _ Spec_Set.next Spec_Set.eqb Spec_Set.same Spec_Set.pure Spec_Set.restrict never stays) (Spec_Set.set_of items) no_claims.
Theorem growing_set_sound items : Sound Spec_Set.step (fun v => if in_dec Pos.eq_dec v items then true else false) (growing_set items).
Proof.
  apply (sound _ Spec_Set.abs); [exact (conj Spec_Set.laws (no_more _ _))| |easy].
  destruct (Spec_Set.set_of_spec items) as [C M]. split; auto. intros v. specialize (M v). simpl.
  destruct (in_dec Pos.eq_dec v items), (Spec_Set.mem (Spec_Set.set_of items) v); auto; intuition congruence.
Qed.
Definition ids : data_type Spec_Ids.call Spec_Ids.est Empty_set := DataType _ _ _
  (Checker _ _ Spec_Ids.next Spec_Ids.eqb Spec_Ids.same Spec_Ids.pure Spec_Ids.restrict never stays) (PM.empty _) no_claims.
Theorem ids_sound : Sound Spec_Ids.step (fun _ => false) ids.
Proof.
  apply (sound _ Spec_Ids.abs); [exact (conj Spec_Ids.laws (no_more _ _))| |easy]. intros v. unfold Spec_Ids.mem. simpl. now rewrite PM.gempty.
Qed.
Definition growing_ids : data_type Spec_Ids.Growing.call (option Z) Empty_set := DataType _ _ _
  (Checker _ _ Spec_Ids.g_next Spec_Ids.g_eqb Spec_Ids.g_same Spec_Ids.g_pure Spec_Ids.restrict never stays) None no_claims.
Theorem growing_ids_sound : Sound Spec_Ids.Growing.step None growing_ids.
Proof. apply (sound _ eq); [exact (conj Spec_Ids.g_laws (no_more _ _))|easy|easy]. Qed.

(** ** counter, counting-semaphore, mutex and semaphore: a number within limits, if there are some *)
Definition counter (least most : option Z) (n : Z) : data_type Spec_Counter.call Z holder_claim := DataType _ _ _
  (Checker _ _ (Plain.next (Spec_Counter.outcomes least most)) Z.eqb (Plain.same Spec_Counter.call_eqb) (Plain.pure Spec_Counter.idle) (Plain.restrict Spec_Counter.idle)
    (Bounds.hopeless (fun _ s => s) (fun c _ => Some (Spec_Counter.amount c)) (fun c _ => Some (- Spec_Counter.amount c)%Z) Spec_Counter.asks) (Plain.moves (Spec_Counter.moves least most)))
  n (two_holders least most n).
Theorem counter_sound least most n : Sound (Plain.step (Spec_Counter.does least most)) n (counter least most n).
Proof.
  apply (sound _ Plain.abs); [|easy|apply two_holders_sound]. split; [exact (Spec_Counter.laws least most)|].
  exact (conj (Bounds.hopeless_sound _ _ _ _ _ (Spec_Counter.bounded least most)) (Plain.moves_sound _ _ (Spec_Counter.moves_ok least most))).
Qed.

(** ** The others *)
Import Spec_Others.
Section Machine.
Context {call state claim : Type}.
Variable apply : state -> call -> option state.
Variable state_dec : forall s s' : state, {s = s'} + {s <> s'}.
Variable call_dec : forall c c' : call, {c = c'} + {c <> c'}.
Variable idle : call -> bool.
Definition machine hopeless moves (s : state) (refute : claim -> list (op call unit) -> verdict) : data_type call state claim := DataType _ _ _
  (Checker _ _ (Plain.next (outcomes apply)) (state_eqb state_dec) (Plain.same (call_eqb call_dec)) (Plain.pure idle) (Plain.restrict idle) hopeless moves) s refute.
Lemma machine_sound hopeless moves s refute : (forall s c s', idle c = true -> apply s c = Some s' -> s' = s) ->
  HopelessSound (Plain.step (does apply)) Plain.abs hopeless /\ MovesSound (Plain.step (does apply)) moves ->
  (forall c, Refutes (Plain.step (does apply)) s (refute c)) -> Sound (Plain.step (does apply)) s (machine hopeless moves s refute).
Proof. intros I M R. apply (sound _ Plain.abs); [|easy|exact R]. exact (conj (machine_laws apply state_dec call_dec idle I) M). Qed.
End Machine.

(** owner-mutex, reentrant-mutex and owner-semaphore *)
Definition owned (l : Owned.limit) := machine (Owned.apply l) Owned.state_dec Owned.call_dec Owned.idle never stays [] (owned_holders l).
Theorem owned_sound l : Sound (Plain.step (does (Owned.apply l))) [] (owned l).
Proof. apply machine_sound; [apply Owned.idle_same|apply no_more|]. intros c h. apply owned_holders_sound. Qed.

(** fenced-mutex and reentrant-fenced-mutex *)
Definition fenced (most : Z) := machine (Fenced.apply most) Fenced.state_dec Fenced.call_dec Fenced.idle never stays fenced_start (fenced_holders most).
Theorem fenced_sound most : Sound (Plain.step (does (Fenced.apply most))) (Fenced.State None 0 0 0) (fenced most).
Proof. apply machine_sound; [apply Fenced.idle_same|apply no_more|]. intros c h. apply fenced_holders_sound. Qed.

Definition bank (negative : bool) (accounts : Bank.state) := machine (Bank.apply negative) Bank.state_dec Bank.call_dec Bank.idle
  (Bounds.hopeless (fun a s => at_key s a) Bank.rises Bank.falls Bank.asks) (Plain.moves (Bank.moves negative)) accounts (unexplained accounts).
Theorem bank_sound negative accounts : Sound (Plain.step (does (Bank.apply negative))) accounts (bank negative accounts).
Proof.
  apply machine_sound; [apply Bank.idle_same| |apply unexplained_balances_sound].
  exact (conj (Bounds.hopeless_sound _ _ _ _ _ (Bank.bounded negative)) (Plain.moves_sound _ _ (Bank.moves_ok negative))).
Qed.

(** ** Operations that contradict each other: versioned-register, lease, list-append and log

A claim is a cycle of operations (Cycles.v), with the facts of Facts.v. The proposals need not be trusted. *)
Definition versioned_pattern (s : Versioned.state) (nodes : list node) (h : list (op Versioned.call unit)) : verdict :=
  cycle s VersionedFacts.has VersionedFacts.tells VersionedFacts.wants VersionedFacts.denies VersionedFacts.makes no none h nodes.
Definition versioned_proposal (s : Versioned.state) (h : list (op Versioned.call unit)) : op Versioned.call unit -> op Versioned.call unit -> list node :=
  steps s VersionedFacts.has VersionedFacts.tells VersionedFacts.wants VersionedFacts.denies VersionedFacts.makes no none h VersionedFacts.about VersionedFacts.given.
Theorem versioned_pattern_sound s nodes : Refutes (Plain.step (does Versioned.apply)) s (versioned_pattern s nodes).
Proof. intros h _ _. exact (cycle_sound _ _ _ _ _ _ _ _ _ VersionedFacts.growth h nodes). Qed.
Definition versioned_register (s : Versioned.state) := machine Versioned.apply Versioned.state_dec Versioned.call_dec Versioned.idle
  (Bounds.hopeless (fun _ s => fst s) Versioned.rises (fun _ _ => Some 0%Z) Versioned.asks) stays s (versioned_pattern s).
Theorem versioned_register_sound s : Sound (Plain.step (does Versioned.apply)) s (versioned_register s).
Proof. apply machine_sound; [exact Versioned.idle_same|exact (conj (Bounds.hopeless_sound _ _ _ _ _ Versioned.bounded) (proj2 (no_more _ Plain.abs)))|apply versioned_pattern_sound]. Qed.

Definition lease_pattern (s : Lease.state) (nodes : list node) (h : list (op Lease.call unit)) : verdict :=
  cycle s LeaseFacts.has LeaseFacts.tells LeaseFacts.wants LeaseFacts.denies LeaseFacts.makes no none h nodes.
Definition lease_proposal (s : Lease.state) (h : list (op Lease.call unit)) : op Lease.call unit -> op Lease.call unit -> list node :=
  steps s LeaseFacts.has LeaseFacts.tells LeaseFacts.wants LeaseFacts.denies LeaseFacts.makes no none h LeaseFacts.about LeaseFacts.given.
Theorem lease_pattern_sound s nodes : Refutes (Plain.step (does Lease.apply)) s (lease_pattern s nodes).
Proof. intros h _ _. exact (cycle_sound _ _ _ _ _ _ _ _ _ LeaseFacts.growth h nodes). Qed.
Definition lease (s : Lease.state) := machine Lease.apply Lease.state_dec Lease.call_dec Lease.idle never stays s (lease_pattern s).
Theorem lease_sound s : Sound (Plain.step (does Lease.apply)) s (lease s).
Proof. apply machine_sound; [apply Lease.idle_same|apply no_more|apply lease_pattern_sound]. Qed.

Definition list_cycle (s : Lists.state) (nodes : list node) (h : list (op (list Lists.micro) unit)) : verdict :=
  cycle s ListGrowth.have ListGrowth.tells ListGrowth.wants ListFacts.denies ListGrowth.makes ListGrowth.absurd ListGrowth.needs h nodes.
Definition list_proposal (s : Lists.state) (h : list (op (list Lists.micro) unit)) : op (list Lists.micro) unit -> op (list Lists.micro) unit -> list node :=
  steps s ListGrowth.have ListGrowth.tells ListGrowth.wants ListFacts.denies ListGrowth.makes ListGrowth.absurd ListGrowth.needs h ListFacts.shows ListFacts.given.
Definition list_before (s : Lists.state) (h : list (op (list Lists.micro) unit)) : op (list Lists.micro) unit -> op (list Lists.micro) unit -> why -> bool :=
  comes_before s ListGrowth.have ListGrowth.tells ListGrowth.wants ListFacts.denies ListGrowth.makes ListGrowth.absurd ListGrowth.needs h.
Theorem list_cycle_sound s nodes : Refutes (Plain.step (does Lists.apply)) s (list_cycle s nodes).
Proof. intros h _ _. exact (cycle_sound _ _ _ _ _ _ _ _ _ ListGrowth.growth h nodes). Qed.
(** Each list, of the state and of a read, is written from its last element to its first. *)
Definition list_append (s : Lists.state) : data_type (list Lists.micro) Stored.StoredLists.est (list node) := DataType _ _ _
  (Checker _ _ (Stored.next Stored.StoredLists.run) Stored.StoredLists.eqb (Plain.same (call_eqb Lists.call_dec)) (Plain.pure Lists.idle) (Stored.restrict Lists.idle) never stays)
  (Stored.StoredLists.stored s) (list_cycle s).
Theorem list_append_sound s : Sound (Plain.step (does Lists.apply)) s (list_append s).
Proof.
  apply (sound _ Stored.StoredLists.abs); [|apply Stored.StoredLists.stored_abs|apply list_cycle_sound].
  exact (conj (Stored.laws _ _ _ _ Lists.call_dec Lists.idle Stored.StoredLists.run_agrees Stored.StoredLists.eqb_sound Lists.idle_same) (no_more _ _)).
Qed.

(** The log after these were appended. *)
Definition appended (items : list positive) : Log.state := fold_left (fun s v => (v :: fst s, (snd s + 1)%Z)) items ([], 0%Z).
Definition log_pattern (nothing : positive) (s : Log.state) (nodes : list node) (h : list (op Log.call unit)) : verdict :=
  cycle s (LogFacts.has nothing) (LogFacts.tells nothing) no LogFacts.denies LogFacts.makes no none h nodes.
Definition log_proposal (nothing : positive) (s : Log.state) (h : list (op Log.call unit)) : op Log.call unit -> op Log.call unit -> list node :=
  steps s (LogFacts.has nothing) (LogFacts.tells nothing) no LogFacts.denies LogFacts.makes no none h (LogFacts.shows nothing) LogFacts.given.
Theorem log_pattern_sound nothing s nodes : Refutes (Plain.step (does (Log.apply nothing))) s (log_pattern nothing s nodes).
Proof. intros h _ _. exact (cycle_sound _ _ _ _ _ _ _ _ _ (LogFacts.growth nothing) h nodes). Qed.
(** A read of [nothing] is one of an offset where there is no element. *)
Definition log (nothing : positive) (items : list positive) : data_type Log.call Stored.StoredLog.est (list node) := DataType _ _ _
  (Checker _ _ (Stored.next (Stored.StoredLog.run nothing)) Stored.StoredLog.eqb (Plain.same (call_eqb Log.call_dec)) (Plain.pure Log.idle) (Stored.restrict Log.idle) never stays)
  (Stored.StoredLog.stored (appended items)) (log_pattern nothing (appended items)).
Theorem log_sound nothing items : Sound (Plain.step (does (Log.apply nothing))) (appended items) (log nothing items).
Proof.
  apply (sound _ Stored.StoredLog.abs); [|apply Stored.StoredLog.stored_abs|apply log_pattern_sound].
  exact (conj (Stored.laws _ _ _ _ Log.call_dec Log.idle (Stored.StoredLog.run_agrees nothing) Stored.StoredLog.eqb_sound (Log.idle_same nothing)) (no_more _ _)).
Qed.
