(** Patterns of locks and semaphores, by counting what is held: more than may be, or more was released than was held. *)

From Coq Require Import List PArith ZArith Bool Lia.
From Clew Require Import History Order First Check Plain Cycles Counting.
From Clew Require Spec_Counter Spec_Others.
Import ListNotations.
Open Scope Z_scope.

Definition accepted (b : bool) : verdict := if b then Accepted else Rejected NoPattern 1.
Lemma accepted_true b : accepted b = Accepted -> b = true.
Proof. now destruct b. Qed.

(** More is held than may be; or an owner acquires it while another one, the first, holds it; or more was released than was held. *)
Inductive holder_claim := Crowd (from : option positive) | Second (first : positive) (from : option positive) (second : positive) | NotHeld (owner : positive) (from : option positive).

Section Numbers.
Import Spec_Counter.
Open Scope Z_scope.
Variable most : Z.
Notation op := (op call unit).
Definition crowded (init : Z) (from : option positive) (h : list op) : verdict :=
  accepted ((0 <=? init) && (init <=? most) && (most <? match from with Some _ => 0 | None => init end + total (weight from None (fun o => amount (what o))) h)).
Definition overdrawn (init : Z) (from : option positive) (h : list op) : verdict :=
  accepted ((0 <=? init) && (init <=? most) && (0 <? match from with Some _ => - most | None => - init end + total (weight from None (fun o => - amount (what o))) h)).
Lemma effect_does (o : op) s s' : effect (step (does (Some 0) (Some most))) o s s' -> s' = s + amount (what o) /\ 0 <= s' <= most.
Proof. intros (E & W & _)%acts_does. split; auto. Qed.
Theorem crowded_refutes init from h : sorted h = true -> sane h = true -> crowded init from h = Accepted -> ~ Linearizable (step (does (Some 0) (Some most))) init h.
Proof.
  intros S W C%accepted_true. rewrite !andb_true_iff, !Z.leb_le, Z.ltb_lt in C.
  apply (exceeds_sound _ from None (fun s => s) 0 most (fun o => amount (what o)) (fun s => 0 <= s <= most)); auto; try lia; try (intros; lia).
  intros o x y _ _ [-> ?]%effect_does. split; lia.
Qed.
Theorem overdrawn_refutes init from h : sorted h = true -> sane h = true -> overdrawn init from h = Accepted -> ~ Linearizable (step (does (Some 0) (Some most))) init h.
Proof.
  intros S W C%accepted_true. rewrite !andb_true_iff, !Z.leb_le, Z.ltb_lt in C.
  apply (exceeds_sound _ from None (fun s => - s) (- most) 0 (fun o => - amount (what o)) (fun s => 0 <= s <= most)); auto; try lia; try (intros; lia).
  intros o x y _ _ [-> ?]%effect_does. split; lia.
Qed.
End Numbers.
Definition two_holders (least most : option Z) (init : Z) (c : holder_claim) (h : list (op Spec_Counter.call unit)) : verdict :=
  match least, most, c with
  | Some 0, Some m, Crowd from => crowded m init from h
  | Some 0, Some m, NotHeld _ from => overdrawn m init from h
  | _, _, _ => Rejected NoPattern 1
  end.
Theorem two_holders_sound least most init c : Refutes (step (Spec_Counter.does least most)) init (two_holders least most init c).
Proof. intros h. destruct least as [[| |]|], most, c; try easy; [apply crowded_refutes|apply overdrawn_refutes]. Qed.

(** The same with owners: what those hold together whom [some] chooses. *)
Section Owners.
Context {state call : Type}.
Variable apply : state -> call -> option state.
Variable held : (positive -> bool) -> state -> Z.
Variable changes : call -> positive * Z.
Variable most : Z.
Variable alone : bool.  (* whether only one owner holds it at a time *)
Variable P : state -> Prop.
Variable init : state.
Hypothesis init_ok : P init /\ forall some, held some init = 0.
Hypothesis keeps : forall s c s', P s -> apply s c = Some s' -> P s'.
Hypothesis changed : forall some s c s', P s -> apply s c = Some s' -> held some s' = held some s + if some (fst (changes c)) then snd (changes c) else 0.
Hypothesis bounds : forall some s, P s -> 0 <= held some s <= most.
Hypothesis excluded : forall some s c s', alone = true -> P s -> apply s c = Some s' -> 0 < snd (changes c) -> some (fst (changes c)) = false -> held some s <= 0.
Notation op := (op call unit).
Notation does := (Plain.step (Spec_Others.does apply)).
Definition gain (some : positive -> bool) (o : op) : Z := if some (fst (changes (what o))) then snd (changes (what o)) else 0.
Definition anyone (_ : positive) : bool := true.
Definition crowd (from : option positive) (h : list op) : verdict := accepted (most <? total (weight from None (gain anyone)) h).
(** An owner acquires it although another one still holds it. *)
Definition second_holder (first : positive) (from : option positive) (i : positive) (h : list op) : verdict :=
  match named h i with
  | Some y => accepted (alone && returned y && (0 <? snd (changes (what y))) && negb (Pos.eqb first (fst (changes (what y)))) && (0 <? total (weight from (Some y) (gain (Pos.eqb first))) h))
  | None => Rejected NoPattern i
  end.
Definition not_held (owner : positive) (from : option positive) (h : list op) : verdict :=
  accepted (0 <? match from with Some _ => - most | None => 0 end + total (weight from None (fun o => - gain (Pos.eqb owner) o)) h).

Lemma gained some (o : op) s s' : P s -> effect does o s s' -> P s' /\ held some s' = held some s + gain some o.
Proof. intros Ps E%acts_does. split; [eapply keeps; eauto|]. exact (changed some _ _ _ Ps E). Qed.
Theorem crowd_refutes from h : sorted h = true -> sane h = true -> crowd from h = Accepted -> ~ Linearizable does init h.
Proof.
  intros S W C%accepted_true%Z.ltb_lt. destruct init_ok as [Pi Z0].
  apply (exceeds_sound _ from None (held anyone) 0 most (gain anyone) P); auto.
  - intros o x y _ Px E. destruct (gained anyone o x y Px E) as [? ->]. split; auto. lia.
  - intros _ x Px. now apply bounds.
  - intros x Px. now apply bounds.
  - rewrite Z0. destruct from; lia.
Qed.
Theorem second_holder_refutes first from i h : sorted h = true -> sane h = true -> second_holder first from i h = Accepted -> ~ Linearizable does init h.
Proof.
  intros S W. unfold second_holder. destruct (named h i) as [y|] eqn:N; [|easy]. intros C%accepted_true. rewrite !andb_true_iff, negb_true_iff, !Z.ltb_lt in C.
  destruct C as [[[[A R] Up] O] L]. destruct init_ok as [Pi Z0].
  apply (exceeds_sound _ from (Some y) (held (Pos.eqb first)) 0 0 (gain (Pos.eqb first)) P); auto.
  - split; auto. apply find_some in N. tauto.
  - intros o x z _ Px E. destruct (gained (Pos.eqb first) o x z Px E) as [? ->]. split; auto. lia.
  - intros _ x Px. now apply bounds.
  - intros x z Px E%acts_does. eapply excluded; eauto.
  - rewrite Z0. destruct from; lia.
Qed.
Theorem not_held_refutes owner from h : sorted h = true -> sane h = true -> not_held owner from h = Accepted -> ~ Linearizable does init h.
Proof.
  intros S W C%accepted_true%Z.ltb_lt. destruct init_ok as [Pi Z0].
  apply (exceeds_sound _ from None (fun s => - held (Pos.eqb owner) s) (- most) 0 (fun o => - gain (Pos.eqb owner) o) P); auto.
  - intros o x y _ Px E. destruct (gained (Pos.eqb owner) o x y Px E) as [? ->]. split; auto. lia.
  - intros _ x Px. pose proof (bounds (Pos.eqb owner) x Px). lia.
  - intros x Px. pose proof (bounds (Pos.eqb owner) x Px). lia.
  - rewrite Z0. destruct from; lia.
Qed.
Definition holders (c : holder_claim) (h : list op) : verdict :=
  match c with Crowd from => crowd from h | Second first from i => second_holder first from i h | NotHeld owner from => not_held owner from h end.
Theorem holders_refutes c h : sorted h = true -> sane h = true -> holders c h = Accepted -> ~ Linearizable does init h.
Proof. destruct c; [apply crowd_refutes|apply second_holder_refutes|apply not_held_refutes]. Qed.
End Owners.

Section Owned.
Import Spec_Others.
Import Owned.
Open Scope Z_scope.
Variable l : limit.
Definition most_of : Z := match l with Most n | Permits n => Z.max 0 n end.
Definition held_by (some : positive -> bool) (s : state) : Z := fold_right (fun h n => if some (fst h) then snd h + n else n) 0 s.
Definition owned_change (c : call) : positive * Z := (owner c, change c).
Definition owned_ok (s : state) : Prop := (forall h, In h s -> 0 <= snd h) /\ held_by anyone s <= most_of.
Lemma held_put some s k n : (forall h, In h s -> fst h <> k) -> held_by some (put s k n) = held_by some s + if some k then n else 0.
Proof.
  induction s as [|[j m] s IH]; simpl; intros N; [destruct (some k); lia|]. destruct (Pos.compare_spec k j) as [->|L|L]; simpl.
  - now destruct (N (j, m)); [left|].
  - destruct (some k), (some j); lia.
  - rewrite IH by auto. destruct (some k), (some j); lia.
Qed.
Lemma in_put s k n h : In h (put s k n) -> h = (k, n) \/ In h s.
Proof. induction s as [|[j m] s IH]; simpl; [intuition|]. destruct (Pos.compare_spec k j); simpl; intuition. Qed.
Lemma held_apart some s c : held_by some s = held_by some (filter (fun h => negb (Pos.eqb (fst h) (owner c))) s)
  + if some (owner c) then fold_right (fun h n => if Pos.eqb (fst h) (owner c) then snd h + n else n) (change c) s - change c else 0.
Proof.
  induction s as [|[j m] s IH]; simpl; [destruct (some (owner c)); lia|]. rewrite IH. destruct (Pos.eqb_spec j (owner c)) as [->|N]; simpl; [|destruct (some j)]; destruct (some (owner c)); lia.
Qed.
Lemma held_positive some s : (forall h, In h s -> 0 <= snd h) -> 0 <= held_by some s <= held_by anyone s.
Proof. induction s as [|h s IH]; simpl; intros N; [lia|]. assert (0 <= snd h) by auto. destruct IH; auto. destruct (some (fst h)); lia. Qed.
Lemma owned_changes some s c s' : Owned.apply l s c = Some s' -> held_by some s' = held_by some s + if some (owner c) then change c else 0.
Proof.
  unfold Owned.apply. rewrite (held_apart some s c). set (others := filter _ s). set (mine := fold_right _ (change c) s). destruct (_ && _); [|easy].
  assert (N : forall h, In h others -> fst h <> owner c) by (intros h (_ & H)%filter_In; now apply negb_true_iff, Pos.eqb_neq in H).
  intros E. injection E as <-. destruct (Z.eqb_spec mine 0) as [->|]; [|rewrite held_put by auto]; destruct (some (owner c)); lia.
Qed.
Lemma owned_keeps s c s' : owned_ok s -> Owned.apply l s c = Some s' -> owned_ok s'.
Proof.
  intros [Pos_ Le] E. pose proof (owned_changes anyone _ _ _ E) as Ch. pose proof (held_apart anyone s c) as Ap. unfold Owned.apply in E.
  set (others := filter _ s) in *. set (mine := fold_right _ (change c) s) in *. destruct (Z.leb_spec 0 mine) as [M|]; [|easy]. simpl in E.
  destruct (match l with Most _ => _ | Permits _ => _ end) eqn:Al; [|easy]. injection E as E.
  assert (Po : forall h, In h others -> 0 <= snd h) by (intros h (H & _)%filter_In; auto). split.
  - intros h Hh. rewrite <- E in Hh. destruct (mine =? 0); auto. apply in_put in Hh as [->|]; auto.
  - rewrite Ch. unfold anyone, most_of in *. destruct l as [n|n].
    + destruct others; [|easy]. apply Z.leb_le in Al. simpl in Ap. lia.
    + apply Z.leb_le in Al. replace (fold_right _ mine others) with (held_by (fun _ => true) others + mine) in Al; [lia|]. clear. induction others as [|h o IH]; simpl; [easy|]. rewrite <- IH. lia.
Qed.
Definition one_owner : bool := match l with Most _ => true | _ => false end.
Lemma owned_excluded some s c s' : one_owner = true -> owned_ok s -> Owned.apply l s c = Some s' -> 0 < change c -> some (owner c) = false -> held_by some s <= 0.
Proof.
  unfold one_owner, Owned.apply. destruct l as [n|]; [|easy]. intros _ _ E _ O. rewrite (held_apart some s c), O. destruct (filter _ s); [simpl; lia|]. now rewrite andb_false_r in E.
Qed.
Lemma owned_bounds some s : owned_ok s -> 0 <= held_by some s <= most_of.
Proof. intros [H L]. pose proof (held_positive some s H). lia. Qed.
Lemma owned_init : owned_ok [] /\ forall some, held_by some [] = 0.
Proof. split; [split; [easy|]|easy]. unfold most_of. simpl. destruct l; lia. Qed.
Definition owned_holders (c : holder_claim) (h : list (op call unit)) : verdict := holders owned_change most_of one_owner c h.
Theorem owned_holders_sound c h : sorted h = true -> sane h = true -> owned_holders c h = Accepted -> ~ Linearizable (Plain.step (does (Owned.apply l))) [] h.
Proof.
  apply (holders_refutes (Owned.apply l) held_by owned_change most_of one_owner owned_ok []); eauto using owned_init, owned_bounds, owned_keeps.
  - intros. now apply owned_changes.
  - intros some s c' s'. apply owned_excluded.
Qed.
End Owned.

Section Fenced.
Import Spec_Others.
Import Fenced.
Open Scope Z_scope.
Variable most : Z.
Hypothesis some_ : 1 <= most.
Definition fenced_held (some : positive -> bool) (s : state) : Z := match holder s with Some p => if some p then holds s else 0 | None => 0 end.
Definition fenced_change (c : call) : positive * Z := match c with Acquire o _ => (o, 1) | Release o => (o, -1) end.
Definition fenced_ok (s : state) : Prop := 0 <= holds s <= most /\ (holder s = None <-> holds s = 0) /\ (holds s = 0 -> current s = 0).
Definition fenced_start : state := State None 0 0 0.
Lemma fenced_step some s c s' : fenced_ok s -> Fenced.apply most s c = Some s' ->
  fenced_ok s' /\ fenced_held some s' = fenced_held some s + (if some (fst (fenced_change c)) then snd (fenced_change c) else 0)
  /\ (0 < snd (fenced_change c) -> some (fst (fenced_change c)) = false -> fenced_held some s <= 0).
Proof.
  unfold fenced_ok, fenced_held, Fenced.apply, holds_it. destruct s as [h n cur g]. simpl. intros (B & N & C). destruct c as [o f|o]; simpl.
  - destruct (Z.eqb_spec n 0) as [->|Nn]; simpl.
    + rewrite C by auto. simpl. destruct N as [_ ->]; auto. destruct (_ || _); [|easy]. intros E; injection E as <-. simpl.
      repeat split; intros; try easy; try lia; destruct (some o); lia || easy.
    + destruct h as [p|]; [|destruct Nn; tauto]. destruct (Pos.eqb_spec p o) as [->|]; [|easy]. simpl. destruct (Z.eqb_spec n most); [easy|]. simpl.
      destruct (negb _); (destruct (_ || _); [|easy]); intros E; injection E as <-; simpl; repeat split; intros; try easy; try lia; destruct (some o); lia || easy.
  - destruct (Z.eqb_spec n 0) as [->|Nn]; [easy|]. destruct h as [p|]; [|easy]. destruct (Pos.eqb_spec p o) as [->|]; [|easy]. simpl.
    destruct (Z.eqb_spec n 1) as [->|]; intros E; injection E as <-; simpl; repeat split; intros; try easy; try lia; destruct (some o); lia || easy.
Qed.
Lemma fenced_bounds some s : fenced_ok s -> 0 <= fenced_held some s <= most.
Proof. intros (B & _). unfold fenced_held. destruct (holder s) as [p|]; [destruct (some p)|]; lia. Qed.
Lemma fenced_init : fenced_ok fenced_start /\ forall some, fenced_held some fenced_start = 0.
Proof. repeat split; simpl; try easy; lia. Qed.
End Fenced.
Definition fenced_holders (most : Z) (c : holder_claim) (h : list (op Spec_Others.Fenced.call unit)) : verdict :=
  if 1 <=? most then holders fenced_change most true c h else Rejected NoPattern 1.
Theorem fenced_holders_sound most c h : sorted h = true -> sane h = true -> fenced_holders most c h = Accepted ->
  ~ Linearizable (Plain.step (Spec_Others.does (Spec_Others.Fenced.apply most))) fenced_start h.
Proof.
  unfold fenced_holders. intros S W. destruct (Z.leb_spec 1 most) as [L|]; [|easy]. revert S W.
  apply (holders_refutes (Spec_Others.Fenced.apply most) fenced_held fenced_change most true (fenced_ok most) fenced_start); auto using fenced_init, fenced_bounds.
  - intros s c' s' F E. now apply (fenced_step _ L (fun _ => true)) in E.
  - intros some s c' s' F E. now apply (fenced_step _ L some) in E.
  - intros some s c' s' _ F E. now apply (fenced_step _ L some) in E.
Qed.
