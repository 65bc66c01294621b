(** Patterns of containers, by counting elements: one that was taken too often, some that must be there, and some that must be ahead of another one. *)

From Coq Require Import List PArith ZArith FMapPositive Bool Lia.
From Clew Require Import History Order First Projection Check Cycles Counting Spec_Containers.
Import ListNotations.
Open Scope Z_scope.

Local Notation op := (op call unit).
Definition one (b : bool) : Z := if b then 1 else 0.
(** How many elements are among some values. *)
Definition number (V : positive -> bool) (l : list positive) : Z := fold_left (fun n v => n + one (V v)) l 0.
Lemma number_cons V v l : number V (v :: l) = one (V v) + number V l.
Proof.
  unfold number. simpl. assert (G : forall n m, fold_left (fun n v => n + one (V v)) l (n + m) = n + fold_left (fun n v => n + one (V v)) l m).
  { induction l as [|x l IH]; simpl; intros n m; [easy|]. rewrite <- IH. f_equal. lia. }
  rewrite <- G. f_equal. lia.
Qed.
Lemma number_app V a b : number V (a ++ b) = number V a + number V b.
Proof. induction a as [|v a IH]; simpl; [easy|]. rewrite !number_cons. lia. Qed.
Lemma number_positive V l : 0 <= number V l.
Proof. induction l as [|v l IH]; [easy|]. rewrite number_cons. unfold one. destruct (V v); lia. Qed.

Section Kind.
Variable k : kind.
Lemma number_put V s v : number V (put k s v) = number V s + one (V v).
Proof. destruct k; simpl; rewrite ?number_app, !number_cons; change (number V []) with 0; lia. Qed.
Lemma number_take V s v s' : take k s v s' -> number V s = one (V v) + number V s'.
Proof.
  assert (B : (exists a b, s = a ++ v :: b /\ s' = a ++ b) -> number V s = one (V v) + number V s').
  { intros (a & b & -> & ->). rewrite !number_app, number_cons. lia. }
  destruct k; simpl; auto; [intros ->; apply number_cons..|tauto].
Qed.
Lemma number_drain V s vs s' : drain k s vs s' -> number V s = number V vs + number V s'.
Proof. induction 1 as [|s v s1 vs s2 T D IH]; [easy|]. rewrite (number_take _ _ _ _ T), number_cons. lia. Qed.
Lemma effect_step (o : op) s s' : effect (step k) o s s' -> step k s (what o) tt s'.
Proof. apply acts_step. Qed.

(** An element was taken more often than it can have been put in; or a peek shows one although there cannot be one left. *)
Definition taken (v : positive) (o : op) : Z :=
  match what o with Push u => - one (Pos.eqb u v) | Take u => one (Pos.eqb u v) | Drain us => number (fun u => Pos.eqb u v) us | _ => 0 end.
Definition duplicate (init : list positive) (v : positive) (peek : option positive) (h : list op) : verdict :=
  let there := number (fun u => Pos.eqb u v) init in
  match match peek with
    | None => 0 <? total (weight None None (taken v)) h - there
    | Some i => match named h i with
      | Some y => returned y && match what y with Peek u => Pos.eqb u v | _ => false end && (-1 <? total (weight None (Some y) (taken v)) h - there)
      | None => false
      end
    end with true => Accepted | false => Rejected NoPattern 1 end.
Lemma taken_rises v o s s' : effect (step k) o s s' -> - number (fun u => Pos.eqb u v) s + taken v o <= - number (fun u => Pos.eqb u v) s'.
Proof.
  intros E%effect_step. unfold taken. pose proof (number_positive (fun u => Pos.eqb u v)) as P. destruct (what o) as [u|u| |u| | |us|]; simpl in E.
  - subst. rewrite number_put. lia.
  - rewrite (number_take _ _ _ _ E). lia.
  - destruct E as (u & E). rewrite (number_take _ _ _ _ E). unfold one. destruct (Pos.eqb u v); lia.
  - destruct E as (_ & ->). lia.
  - destruct E as (_ & ->). lia.
  - subst. lia.
  - rewrite (number_drain _ _ _ _ E). lia.
  - destruct E as (us & E). rewrite (number_drain _ _ _ _ E). specialize (P us). lia.
Qed.
Theorem duplicate_sound init v peek h : sorted h = true -> sane h = true -> duplicate init v peek h = Accepted -> ~ Linearizable (step k) init h.
Proof.
  intros S W. unfold duplicate. set (V := fun u => Pos.eqb u v). destruct peek as [i|].
  - destruct (named h i) as [y|] eqn:N; [|easy]. destruct (_ && _) eqn:E; [|easy]. intros _. rewrite !andb_true_iff, Z.ltb_lt in E. destruct E as [[R Y] L].
    apply (exceeds_sound _ None (Some y) (fun s => - number V s) 0 (-1) (taken v) (fun _ => True)); auto; [split; auto; apply find_some in N; tauto| |easy| |lia].
    + intros o x z _ _ E. split; auto. now apply taken_rises.
    + intros x z _ E%effect_step. destruct (what y) as [| | |u| | | |]; try easy. destruct E as ((r & T) & _). rewrite (number_take V _ _ _ T).
      change (V u) with (Pos.eqb u v). rewrite Y. pose proof (number_positive V r). unfold one. lia.
  - destruct (0 <? _) eqn:L; [|easy]. intros _. apply Z.ltb_lt in L.
    apply (exceeds_sound _ None None (fun s => - number V s) 0 0 (taken v) (fun _ => True)); auto; [|easy| |lia].
    + intros o x z _ _ E. split; auto. now apply taken_rises.
    + intros x _. pose proof (number_positive V x). lia.
Qed.

(** Elements that must be there, though an operation finds nothing, or finds one that comes after them. *)
Definition values_in (vs : list positive) : positive -> bool := let set := members vs in fun v => match PM.find v set with Some _ => true | None => false end.
Definition left_in (V : positive -> bool) (o : op) : Z :=
  match what o with Push u => one (V u) | Take u => - one (V u) | TakeAny => -1 | Drain us => - number V us | _ => 0 end.
Definition drains_all (o : op) : bool := match what o with DrainAny => true | _ => false end.
Definition denies_them (vs : list positive) (c : call) : bool :=
  match c with
  | Empty => true
  | Take u | Peek u => match k with Priority rank => forallb (fun v => (rank u <? rank v)%positive) vs | _ => false end
  | _ => false
  end.
Definition lost_element (init : list positive) (vs : list positive) (i : positive) (h : list op) : verdict :=
  match named h i with
  | Some y =>
    let V := values_in vs in
    if returned y && denies_them vs (what y) && negb (existsb drains_all h) && (0 <? number V init + total (weight None (Some y) (left_in V)) h)
    then Accepted else Rejected NoPattern i
  | None => Rejected NoPattern i
  end.
Lemma left_rises V o s s' : drains_all o = false -> effect (step k) o s s' -> number V s + left_in V o <= number V s'.
Proof.
  intros D E%effect_step. unfold left_in. unfold drains_all in D. destruct (what o) as [u|u| |u| | |us|]; simpl in E; try easy.
  - subst. rewrite number_put. lia.
  - rewrite (number_take _ _ _ _ E). lia.
  - destruct E as (u & E). rewrite (number_take V _ _ _ E). unfold one. destruct (V u); lia.
  - destruct E as (_ & ->). lia.
  - destruct E as (_ & ->). lia.
  - subst. lia.
  - rewrite (number_drain _ _ _ _ E). lia.
Qed.
Lemma values_in_spec vs v : values_in vs v = true -> In v vs.
Proof. unfold values_in. intros H. apply members_spec. destruct (PM.find v (members vs)); easy. Qed.
Lemma none_left V s : (forall v, In v s -> V v = false) -> number V s <= 0.
Proof. induction s as [|v s IH]; intros H; [easy|]. rewrite number_cons, (H v) by now left. simpl. apply IH. intros; apply H; now right. Qed.
Theorem lost_element_sound init vs i h : sorted h = true -> sane h = true -> lost_element init vs i h = Accepted -> ~ Linearizable (step k) init h.
Proof.
  intros S W. unfold lost_element. destruct (named h i) as [y|] eqn:N; [|easy]. set (V := values_in vs). destruct (_ && _) eqn:E; [|easy]. intros _.
  rewrite !andb_true_iff, negb_true_iff, Z.ltb_lt in E. destruct E as [[[R Y] D] L].
  apply (exceeds_sound _ None (Some y) (number V) 0 0 (left_in V) (fun _ => True)); auto; [split; auto; apply find_some in N; tauto| |easy|].
  - intros o x z Ho _ E. split; auto. apply left_rises; auto. destruct (drains_all o) eqn:F; auto. rewrite <- D. symmetry. apply existsb_exists. eauto.
  - intros x z _ E%effect_step. apply none_left. intros v Hv. destruct (V v) eqn:Vv; auto. apply values_in_spec in Vv. exfalso.
    assert (G : forall u, (exists r, take k x u r) -> match k with Priority rank => forallb (fun v => (rank u <? rank v)%positive) vs | _ => false end = true -> False).
    { intros u (r & Tk) F. destruct k as [| | |rank]; try easy. destruct Tk as [_ M]. rewrite forallb_forall in F. specialize (F _ Vv). apply Pos.ltb_lt in F. specialize (M _ Hv). lia. }
    unfold denies_them in Y. destruct (what y) as [u|u| |u| | |us|]; try easy; simpl in E.
    + apply (G u); eauto.
    + apply (G u); auto. apply E.
    + destruct E as [-> _]. easy.
Qed.
End Kind.

(** Elements that must stand before another one, which came out before them. *)
Definition ahead (V : positive -> bool) (i : op) (o : op) : Z := match what o with Push u => if precedes_b o i then one (V u) else 0 | _ => left_in V o end.
Definition gives (c : call) (v : positive) : bool := match c with Take u | Peek u => Pos.eqb u v | _ => false end.
(** Nothing else puts it in. *)
Definition only_at (b put_in : positive) (o : op) : bool := match what o with Push u => negb (Pos.eqb u b) || Pos.eqb (inv o) put_in | _ => true end.
Definition out_of_turn (init : list positive) (put_in out : positive) (h : list op) (overtaken : op -> op -> positive -> bool) : verdict :=
  match named h put_in, named h out with
  | Some x, Some y =>
    match what x with
    | Push b =>
      if returned y && gives (what y) b && negb (existsb drains_all h) && negb (existsb (Pos.eqb b) init) && forallb (only_at b put_in) h && overtaken x y b
      then Accepted else Rejected NoPattern out
    | _ => Rejected NoPattern out
    end
  | _, _ => Rejected NoPattern out
  end.
Definition fifo_inversion (init : list positive) (vs : list positive) (put_in out : positive) (h : list op) : verdict :=
  let V := values_in vs in
  out_of_turn init put_in out h (fun x y b => negb (V b) && (0 <? number V init + total (weight None (Some y) (ahead V x)) h)).
Fixpoint before_first (b : positive) (s : list positive) : list positive := match s with [] => [] | v :: s => if Pos.eqb v b then [] else v :: before_first b s end.
Lemma before_put V b s v : number V (before_first b s) <= number V (before_first b (s ++ [v])).
Proof.
  induction s as [|u s IH]; simpl; [apply number_positive|]. destruct (Pos.eqb u b); [lia|]. rewrite !number_cons. lia.
Qed.
Lemma before_take V b v s : number V (before_first b (v :: s)) <= one (V v) + number V (before_first b s).
Proof. simpl. pose proof (number_positive V (before_first b s)). unfold one. destruct (Pos.eqb v b); [change (number V []) with 0; destruct (V v); lia|]. rewrite number_cons. unfold one. lia. Qed.
Lemma before_drain k V b s vs s' : (forall s v s', take k s v s' -> s = v :: s') -> drain k s vs s' -> number V (before_first b s) <= number V vs + number V (before_first b s').
Proof. intros K. induction 1 as [s|s v s1 vs s2 T D IH]; [change (number V []) with 0; lia|]. apply K in T. subst. rewrite number_cons. pose proof (before_take V b v s1). lia. Qed.
Lemma before_new V b s : number (fun u => Pos.eqb u b) s <= 0 -> number V (before_first b (s ++ [b])) = number V s.
Proof.
  induction s as [|u s IH]; simpl; [now rewrite Pos.eqb_refl|]. rewrite number_cons. pose proof (number_positive (fun u => Pos.eqb u b) s). unfold one.
  destruct (Pos.eqb u b); [lia|]. intros L. rewrite !number_cons, IH; lia.
Qed.
(** b is not there until the only operation that puts it in has happened. *)
Definition absent (b : positive) (s : list positive) : Prop := number (fun u => Pos.eqb u b) s <= 0.
Lemma absent_at_start b s : existsb (Pos.eqb b) s = false -> absent b s.
Proof. unfold absent. induction s as [|u s IH]; [easy|]. simpl. intros [N Is]%orb_false_iff. rewrite number_cons, Pos.eqb_sym, N. simpl. auto. Qed.
Lemma absent_kept k b put_in o s s' : only_at b put_in o = true -> inv o <> put_in -> absent b s -> effect (step k) o s s' -> absent b s'.
Proof.
  unfold absent, only_at. intros U N Ns E. apply (taken_rises k b) in E. enough (0 <= taken b o) by lia. unfold taken.
  destruct (what o) as [u|u| |u| | |us|]; try lia; [|unfold one; destruct (Pos.eqb u b); lia|apply number_positive].
  apply orb_true_iff in U as [U|U]; [apply negb_true_iff in U; now rewrite U|now apply Pos.eqb_eq in U].
Qed.
Lemma given_first k y b s s' : gives (what y) b = true -> (forall s v r, take k s v r -> s = v :: r) -> effect (step k) y s s' -> exists r, s = b :: r.
Proof.
  unfold gives. intros Y K E%effect_step. destruct (what y) as [|u| |u| | | |]; try easy; apply Pos.eqb_eq in Y as ->; simpl in E; [eauto|]. destruct E as ((r & T) & _). eauto.
Qed.
Lemma entered k b put_in x y part init l : (forall o, In o part -> inv o = put_in -> o = x) -> (forall o, In o part -> only_at b put_in o = true) -> absent b init ->
  run (step k) init (part ++ y :: l) -> (forall s s', effect (step k) y s s' -> exists r, s = b :: r) -> In x part.
Proof.
  intros Here U Ni R Gy. destruct (existsb (fun o => Pos.eqb (inv o) put_in) part) eqn:Px.
  - apply existsb_exists in Px as (o & Ho & Eo%Pos.eqb_eq). now replace x with o by auto.
  - exfalso. destruct (climb (step k) (fun _ => 0) (absent b) (fun _ => 0) part init (y :: l)) as (s & Ns & Rs & _); auto.
    + intros o s s' Ho Ns E. split; [|lia]. apply (absent_kept k b put_in o s); auto. intros I.
      enough (existsb (fun o => Pos.eqb (inv o) put_in) part = true) by congruence. apply existsb_exists. exists o. split; auto. now apply Pos.eqb_eq.
    + inversion Rs as [|? ? s1 ? E _]; subst. destruct (Gy _ _ E) as (r & ->). unfold absent in Ns. rewrite number_cons, Pos.eqb_refl in Ns.
      pose proof (number_positive (fun u => Pos.eqb u b) r). unfold one in Ns. lia.
Qed.
Theorem fifo_inversion_sound init vs put_in out h : sorted h = true -> sane h = true -> fifo_inversion init vs put_in out h = Accepted -> ~ Linearizable (step Fifo) init h.
Proof.
  intros S W C (os & Lin). unfold fifo_inversion, out_of_turn in C. destruct (named h put_in) as [x|] eqn:Nx; [|easy]. destruct (named h out) as [y|] eqn:Ny; [|easy].
  apply find_some in Nx as [Hx Ix], Ny as [Hy _]. apply Pos.eqb_eq in Ix. destruct (what x) as [b| | | | | | |] eqn:Wx; try easy. set (V := values_in vs) in *.
  destruct (_ && _) eqn:E in C; [|easy]. rewrite !andb_true_iff, !negb_true_iff, Z.ltb_lt, forallb_forall in E. destruct E as [[[[[R Y] D] Ib] U] [Vb L]].
  destruct (stretch _ None (Some y) init h os S W Lin) as (before & part & rest & -> & Eb & (l & ->) & Dp & Ip & A & B); auto.
  pose proof (weigh None (Some y) (ahead V x) h part (sorted_NoDup _ S) Dp Ip A B) as Wg.
  pose proof (respects_time _ _ _ _ Lin) as T. pose proof (runs _ _ _ _ Lin) as X. rewrite Eb in T, X by auto. simpl in T, X. clear Eb before Lin A B.
  assert (Here : forall o, In o part -> inv o = put_in -> o = x) by (intros; apply (sorted_unique _ S); auto; congruence).
  assert (Db : forall o, In o part -> drains_all o = false).
  { intros o Ho. destruct (drains_all o) eqn:F; auto. rewrite <- D. symmetry. apply existsb_exists. eauto. }
  assert (Ni : absent b init) by now apply absent_at_start.
  assert (None_ : forall o s s', In o part -> o <> x -> absent b s -> effect (step Fifo) o s s' -> absent b s').
  { intros o s s' Ho No. apply (absent_kept Fifo b put_in o); auto. }
  assert (Gy := fun s s' => given_first Fifo y b s s' Y (fun s v r T => T)).
  assert (Px : In x part) by (apply (entered Fifo b put_in x y part init l); auto).
  apply in_split in Px as (p1 & p2 & ->).
  rewrite <- app_assoc in T, X. simpl in T, X. apply NoDup_remove_2 in Dp. rewrite in_app_iff in Dp.
  destruct (climb (step Fifo) (number V) (absent b) (ahead V x) p1 init (x :: p2 ++ y :: l)) as (s1 & N1 & R1 & L1); auto.
  { intros o s s' Ho Ns E. split; [eapply None_; eauto; [apply in_or_app; auto|intros ->; tauto]|].
    apply (left_rises Fifo V) in E; [|apply Db, in_or_app; auto]. enough (ahead V x o <= left_in V o) by lia.
    unfold ahead, left_in. destruct (what o); try lia. unfold one. destruct (precedes_b o x), (V v); lia. }
  inversion R1 as [|? ? s2 ? E2 R2]; subst. apply effect_step in E2. rewrite Wx in E2. simpl in E2. subst s2.
  destruct (climb (step Fifo) (fun s => number V (before_first b s)) (fun _ => True) (ahead V x) p2 (s1 ++ [b]) (y :: l)) as (s3 & _ & R3 & L3); auto.
  { intros o s s' Ho _ E. split; auto. assert (Do := Db o ltac:(apply in_or_app; right; now right)). apply effect_step in E. unfold ahead, left_in. unfold drains_all in Do.
    destruct (what o) as [u|u| |u| | |us|] eqn:Wo; simpl in E; try easy.
    - subst. replace (precedes_b o x) with false; [pose proof (before_put V b s u); lia|]. symmetry. destruct (precedes_b o x) eqn:P; auto. exfalso. apply precedes_spec in P.
      replace (p1 ++ x :: p2 ++ y :: l) with ((p1 ++ [x]) ++ p2 ++ y :: l) in T by (now rewrite <- app_assoc).
      apply (in_time_split _ _ T x o); auto; apply in_or_app; simpl; auto.
    - subst. pose proof (before_take V b u s'). lia.
    - destruct E as (u & ->). pose proof (before_take V b u s'). unfold one in *. destruct (V u); lia.
    - destruct E as (_ & ->). lia.
    - destruct E as (_ & ->). lia.
    - subst. lia.
    - apply (before_drain Fifo V b) in E; auto. lia. }
  inversion R3 as [|? ? s4 ? E4 _]; subst. destruct (Gy _ _ E4) as (r & ->). rewrite before_new in L3 by easy. simpl in L3. rewrite Pos.eqb_refl in L3. change (number V []) with 0 in L3.
  rewrite total_app, total_cons in Wg. unfold ahead at 3 in Wg. rewrite Wx, Vb in Wg. simpl in Wg. destruct (precedes_b x x); lia.
Qed.

(** The same of a stack: elements that were put on top of another one, which came out from under them. *)
Definition above (V : positive -> bool) (x : op) (o : op) : Z := match what o with Push u => if precedes_b x o then one (V u) else 0 | _ => left_in V o end.
Definition stack_inversion (init : list positive) (vs : list positive) (put_in out : positive) (h : list op) : verdict :=
  let V := values_in vs in
  out_of_turn init put_in out h (fun x y b => 0 <? total (weight None (Some y) (above V x)) h).
Theorem stack_inversion_sound init vs put_in out h : sorted h = true -> sane h = true -> stack_inversion init vs put_in out h = Accepted -> ~ Linearizable (step Stack) init h.
Proof.
  intros S W C (os & Lin). unfold stack_inversion, out_of_turn in C. destruct (named h put_in) as [x|] eqn:Nx; [|easy]. destruct (named h out) as [y|] eqn:Ny; [|easy].
  apply find_some in Nx as [Hx Ix], Ny as [Hy _]. apply Pos.eqb_eq in Ix. destruct (what x) as [b| | | | | | |] eqn:Wx; try easy. set (V := values_in vs) in *.
  destruct (_ && _) eqn:E in C; [|easy]. rewrite !andb_true_iff, !negb_true_iff, Z.ltb_lt, forallb_forall in E. destruct E as [[[[[R Y] D] Ib] U] L].
  destruct (stretch _ None (Some y) init h os S W Lin) as (before & part & rest & -> & Eb & (l & ->) & Dp & Ip & A & B); auto.
  pose proof (weigh None (Some y) (above V x) h part (sorted_NoDup _ S) Dp Ip A B) as Wg.
  pose proof (respects_time _ _ _ _ Lin) as T. pose proof (runs _ _ _ _ Lin) as X. rewrite Eb in T, X by auto. simpl in T, X. clear Eb before Lin A B.
  assert (Here : forall o, In o part -> inv o = put_in -> o = x) by (intros; apply (sorted_unique _ S); auto; congruence).
  assert (Db : forall o, In o part -> drains_all o = false).
  { intros o Ho. destruct (drains_all o) eqn:F; auto. rewrite <- D. symmetry. apply existsb_exists. eauto. }
  assert (Gy := fun s s' => given_first Stack y b s s' Y (fun s v r T => T)).
  assert (Px : In x part) by (apply (entered Stack b put_in x y part init l); auto; now apply absent_at_start).
  apply in_split in Px as (p1 & p2 & ->). rewrite <- app_assoc in T, X. simpl in T, X. apply NoDup_remove_2 in Dp. rewrite in_app_iff in Dp.
  (* what stands before x counts for nothing *)
  assert (No_ : forall o, In o p1 \/ o = x -> above V x o <= 0).
  { intros o Ho. assert (F : precedes_b x o = false).
    { destruct (precedes_b x o) eqn:P; auto. exfalso. apply precedes_spec in P. destruct Ho as [Ho| ->].
      - apply (in_time_split _ _ T o x); simpl; auto.
      - destruct P as (t & Rt & Lt). pose proof (sane_spec _ W _ _ Hx Rt). lia. }
    unfold above, left_in. rewrite F. destruct (what o) as [u|u| |u| | |us|]; try lia; [unfold one; destruct (V u); lia|pose proof (number_positive V us); lia]. }
  assert (L1 : total (above V x) p1 <= total (fun _ => 0) p1) by (apply total_le; auto).
  assert (Z1 : total (fun _ : op => 0) p1 = 0) by (clear; induction p1 as [|o p IH]; [easy|]; rewrite total_cons; lia).
  destruct (climb (step Stack) (fun _ => 0) (fun _ => True) (fun _ => 0) p1 init (x :: p2 ++ y :: l)) as (s1 & _ & R1 & _); auto; [intros; split; auto; lia|].
  inversion R1 as [|? ? s2 ? E2 R2]; subst. apply effect_step in E2. rewrite Wx in E2. simpl in E2. subst s2.
  destruct (climb (step Stack) (fun s => number V (before_first b s)) (fun _ => True) (above V x) p2 (b :: s1) (y :: l)) as (s3 & _ & R3 & L3); auto.
  { intros o s s' Ho _ E. split; auto. assert (Io : In o (p1 ++ x :: p2)) by (apply in_or_app; right; now right). assert (Do := Db o Io). apply effect_step in E. unfold above, left_in. unfold drains_all in Do.
    destruct (what o) as [u|u| |u| | |us|] eqn:Wo; simpl in E; try easy.
    - subst. assert (Uo := U o (Ip _ Io)). unfold only_at in Uo. rewrite Wo in Uo. simpl. destruct (Pos.eqb u b) eqn:Eu; simpl in Uo.
      + apply Pos.eqb_eq in Uo. rewrite (Here _ Io Uo) in Ho. tauto.
      + rewrite number_cons. unfold one. destruct (precedes_b x o), (V u); lia.
    - subst. pose proof (before_take V b u s'). lia.
    - destruct E as (u & ->). pose proof (before_take V b u s'). unfold one in *. destruct (V u); lia.
    - destruct E as (_ & ->). lia.
    - destruct E as (_ & ->). lia.
    - subst. lia.
    - apply (before_drain Stack V b) in E; auto. lia. }
  inversion R3 as [|? ? s4 ? E4 _]; subst. destruct (Gy _ _ E4) as (r & ->). simpl in L3. rewrite Pos.eqb_refl in L3. change (number V []) with 0 in L3.
  rewrite total_app, total_cons in Wg. pose proof (No_ x (or_intror eq_refl)). lia.
Qed.

(** A pattern, as data: operations have their times. [vs] are the elements that must be there. *)
Inductive element_claim :=
  | Duplicate (v : positive) (peek : option positive)
  | LostElement (vs : list positive) (i : positive)
  | Inversion (vs : list positive) (put_in out : positive).
Definition element_pattern (k : kind) (init : list positive) (c : element_claim) (h : list op) : verdict :=
  match c with
  | Duplicate v peek => duplicate init v peek h
  | LostElement vs i => lost_element k init vs i h
  | Inversion vs put_in out =>
    match k with Fifo => fifo_inversion init vs put_in out h | Stack => stack_inversion init vs put_in out h | _ => Rejected NoPattern out end
  end.
Lemma element_pattern_sound k init c : Refutes (step k) init (element_pattern k init c).
Proof.
  intros h. destruct c; [apply duplicate_sound|apply lost_element_sound|].
  destruct k; [apply fifo_inversion_sound|apply stack_inversion_sound|easy|easy].
Qed.
