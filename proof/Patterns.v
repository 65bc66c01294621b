(** Patterns of containers and locks, which Counting.v proves, and one more of a queue: elements that come out in the wrong order. *)

From Coq Require Import List PArith ZArith FMapPositive Bool Lia.
From Clew Require Import History Order First Projection Check Plain Cycles Counting.
From Clew Require Spec_Containers Spec_Counter Spec_Others.
Import ListNotations.
Open Scope Z_scope.

(** ** Containers *)
Module Containers.
Import Spec_Containers.
Open Scope Z_scope.
Notation op := (op call unit).
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
Theorem duplicate_refutes init v peek h : sorted h = true -> sane h = true -> duplicate init v peek h = Accepted -> ~ Linearizable (step k) init h.
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
Theorem lost_element_refutes init vs i h : sorted h = true -> sane h = true -> lost_element init vs i h = Accepted -> ~ Linearizable (step k) init h.
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
Definition fifo_inversion (init : list positive) (vs : list positive) (put_in out : positive) (h : list op) : verdict :=
  match named h put_in, named h out with
  | Some x, Some y =>
    match what x with
    | Push b =>
      let V := values_in vs in
      if returned y && gives (what y) b && negb (V b) && negb (existsb drains_all h) && negb (existsb (Pos.eqb b) init)
        && forallb (fun o => match what o with Push u => negb (Pos.eqb u b) || Pos.eqb (inv o) put_in | _ => true end) h
        && (0 <? number V init + total (weight None (Some y) (ahead V x)) h)
      then Accepted else Rejected NoPattern out
    | _ => Rejected NoPattern out
    end
  | _, _ => Rejected NoPattern out
  end.
Fixpoint before_first (b : positive) (s : list positive) : list positive := match s with [] => [] | v :: s => if Pos.eqb v b then [] else v :: before_first b s end.
Lemma before_put V b s v : number V (before_first b s) <= number V (before_first b (s ++ [v])).
Proof.
  induction s as [|u s IH]; simpl; [apply number_positive|]. destruct (Pos.eqb u b); [lia|]. rewrite !number_cons. lia.
Qed.
Lemma before_take V b v s : number V (before_first b (v :: s)) <= one (V v) + number V (before_first b s).
Proof. simpl. pose proof (number_positive V (before_first b s)). unfold one. destruct (Pos.eqb v b); [change (number V []) with 0; destruct (V v); lia|]. rewrite number_cons. unfold one. lia. Qed.
Lemma before_drain V b s vs s' : drain Fifo s vs s' -> number V (before_first b s) <= number V vs + number V (before_first b s').
Proof. induction 1 as [s|s v s1 vs s2 T D IH]; [change (number V []) with 0; lia|]. simpl in T. subst. rewrite number_cons. pose proof (before_take V b v s1). lia. Qed.
Lemma before_new V b s : number (fun u => Pos.eqb u b) s <= 0 -> number V (before_first b (s ++ [b])) = number V s.
Proof.
  induction s as [|u s IH]; simpl; [now rewrite Pos.eqb_refl|]. rewrite number_cons. pose proof (number_positive (fun u => Pos.eqb u b) s). unfold one.
  destruct (Pos.eqb u b); [lia|]. intros L. rewrite !number_cons, IH; lia.
Qed.
Theorem fifo_inversion_refutes init vs put_in out h : sorted h = true -> sane h = true -> fifo_inversion init vs put_in out h = Accepted -> ~ Linearizable (step Fifo) init h.
Proof.
  intros S W C (os & Lin). unfold fifo_inversion in C. destruct (named h put_in) as [x|] eqn:Nx; [|easy]. destruct (named h out) as [y|] eqn:Ny; [|easy].
  apply find_some in Nx as [Hx Ix], Ny as [Hy _]. apply Pos.eqb_eq in Ix. destruct (what x) as [b| | | | | | |] eqn:Wx; try easy. set (V := values_in vs) in *.
  destruct (_ && _) eqn:E in C; [|easy]. rewrite !andb_true_iff, !negb_true_iff, Z.ltb_lt, forallb_forall in E. destruct E as [[[[[[R Y] Vb] D] Ib] U] L].
  destruct (stretch _ None (Some y) init h os S W Lin) as (before & part & rest & -> & Eb & (l & ->) & Dp & Ip & A & B); auto.
  pose proof (weigh None (Some y) (ahead V x) h part (sorted_NoDup _ S) Dp Ip A B) as Wg.
  pose proof (respects_time _ _ _ _ Lin) as T. pose proof (runs _ _ _ _ Lin) as X. rewrite Eb in T, X by auto. simpl in T, X. clear Eb before Lin A B.
  assert (Here : forall o, In o part -> inv o = put_in -> o = x) by (intros; apply (sorted_unique _ S); auto; congruence).
  assert (Db : forall o, In o part -> drains_all o = false).
  { intros o Ho. destruct (drains_all o) eqn:F; auto. rewrite <- D. symmetry. apply existsb_exists. eauto. }
  (* b is not there until x puts it there *)
  set (none := fun s => number (fun u => Pos.eqb u b) s <= 0).
  assert (None_ : forall o s s', In o part -> o <> x -> none s -> effect (step Fifo) o s s' -> none s').
  { intros o s s' Ho No Ns E. apply (taken_rises Fifo b) in E. unfold none in *. enough (0 <= taken b o) by lia. unfold taken.
    destruct (what o) as [u|u| |u| | |us|] eqn:Wo; try lia; [|unfold one; destruct (Pos.eqb u b); lia|apply number_positive].
    specialize (U _ (Ip _ Ho)). rewrite Wo in U. apply orb_true_iff in U as [U|U]; [apply negb_true_iff in U; now rewrite U|]. destruct No. apply Here; auto. now apply Pos.eqb_eq. }
  assert (Ni : none init).
  { unfold none. clear - Ib. induction init as [|u s IH]; [easy|]. rewrite number_cons. simpl in Ib. apply orb_false_iff in Ib as [Ib Is]. rewrite Pos.eqb_sym, Ib. simpl. auto. }
  assert (Gy : forall s s', effect (step Fifo) y s s' -> exists r, s = b :: r).
  { intros s s' E%effect_step. unfold gives in Y. destruct (what y) as [|u| |u| | | |]; try easy; apply Pos.eqb_eq in Y as ->; simpl in E; [eauto|]. destruct E as ((r & ->) & _). eauto. }
  destruct (existsb (fun o => Pos.eqb (inv o) put_in) part) eqn:Px.
  2: { destruct (climb (step Fifo) (fun _ => 0) none (fun _ => 0) part init (y :: l)) as (s & Ns & Rs & _); auto.
       - intros o s s' Ho Ns E. split; [|lia]. eapply None_; eauto. intros ->. enough (existsb (fun o => Pos.eqb (inv o) put_in) part = true) by congruence.
         apply existsb_exists. exists x. split; auto. now apply Pos.eqb_eq.
       - inversion Rs as [|? ? s1 ? E _]; subst. destruct (Gy _ _ E) as (r & ->). unfold none in Ns. rewrite number_cons, Pos.eqb_refl in Ns.
         pose proof (number_positive (fun u => Pos.eqb u b) r). unfold one in Ns. lia. }
  apply existsb_exists in Px as (o & Ho & Eo%Pos.eqb_eq). assert (o = x) as -> by auto. apply in_split in Ho as (p1 & p2 & ->). clear Eo.
  rewrite <- app_assoc in T, X. simpl in T, X. apply NoDup_remove_2 in Dp. rewrite in_app_iff in Dp.
  destruct (climb (step Fifo) (number V) none (ahead V x) p1 init (x :: p2 ++ y :: l)) as (s1 & N1 & R1 & L1); auto.
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
    - apply (before_drain V b) in E. lia. }
  inversion R3 as [|? ? s4 ? E4 _]; subst. destruct (Gy _ _ E4) as (r & ->). rewrite before_new in L3 by easy. simpl in L3. rewrite Pos.eqb_refl in L3. change (number V []) with 0 in L3.
  rewrite total_app, total_cons in Wg. unfold ahead at 3 in Wg. rewrite Wx, Vb in Wg. simpl in Wg. destruct (precedes_b x x); lia.
Qed.
End Containers.

(** ** Locks and semaphores: more is held than may be, or more was released than was held. *)
Module Locks.
Definition accepted (b : bool) : verdict := if b then Accepted else Rejected NoPattern 1.
Lemma accepted_true b : accepted b = Accepted -> b = true.
Proof. now destruct b. Qed.

(** More is held than may be; or an owner acquires it while another one, the first, holds it; or more was released than was held. *)
Inductive claim := Crowd (from : option positive) | Second (first : positive) (from : option positive) (second : positive) | NotHeld (owner : positive) (from : option positive).

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
Definition number_holders (init : Z) (c : claim) (h : list op) : verdict :=
  match c with Crowd from => crowded init from h | NotHeld _ from => overdrawn init from h | Second _ _ i => Rejected NoPattern i end.
Theorem number_holders_refutes init c h : sorted h = true -> sane h = true -> number_holders init c h = Accepted -> ~ Linearizable (step (does (Some 0) (Some most))) init h.
Proof. destruct c; [apply crowded_refutes|easy|apply overdrawn_refutes]. Qed.
End Numbers.

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
Definition holders (c : claim) (h : list op) : verdict :=
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
Definition owned_holders (c : claim) (h : list (op call unit)) : verdict := holders owned_change most_of one_owner c h.
Theorem owned_holders_refutes c h : sorted h = true -> sane h = true -> owned_holders c h = Accepted -> ~ Linearizable (Plain.step (does (Owned.apply l))) [] h.
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
Definition fenced_holders (most : Z) (c : claim) (h : list (op Spec_Others.Fenced.call unit)) : verdict :=
  if 1 <=? most then holders fenced_change most true c h else Rejected NoPattern 1.
Theorem fenced_holders_refutes most c h : sorted h = true -> sane h = true -> fenced_holders most c h = Accepted ->
  ~ Linearizable (Plain.step (Spec_Others.does (Spec_Others.Fenced.apply most))) fenced_start h.
Proof.
  unfold fenced_holders. intros S W. destruct (Z.leb_spec 1 most) as [L|]; [|easy]. revert S W.
  apply (holders_refutes (Spec_Others.Fenced.apply most) fenced_held fenced_change most true (fenced_ok most) fenced_start); auto using fenced_init, fenced_bounds.
  - intros s c' s' F E. now apply (fenced_step _ L (fun _ => true)) in E.
  - intros some s c' s' F E. now apply (fenced_step _ L some) in E.
  - intros some s c' s' _ F E. now apply (fenced_step _ L some) in E.
Qed.
End Locks.
