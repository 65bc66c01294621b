(** States that are stored in another way than their specification says, so that each step takes logarithmic time. *)

From Coq Require Import List PArith ZArith FMapPositive Bool Lia.
From Clew Require Import History Order Core Projection Check Plain Spec_Others.
Import ListNotations.

Section Stored.
Context {state call est : Type}.
Variable apply : state -> call -> option state.
Variable run : est -> call -> option est.
Variable abs : est -> state -> Prop.
Variable eqb : est -> est -> bool.
Variable call_dec : forall c c' : call, {c = c'} + {c <> c'}.
Variable idle : call -> bool.
Definition agrees (e : option est) (s : option state) : Prop :=
  match e, s with Some e, Some s => abs e s | None, None => True | _, _ => False end.
Hypothesis run_agrees : forall e s c, abs e s -> agrees (run e c) (apply s c).
Hypothesis eqb_sound : EqbSound abs eqb.
Hypothesis idle_same : forall s c s', idle c = true -> apply s c = Some s' -> s' = s.

Definition next (e : est) (c : call) (_ : option unit) : list est := match run e c with Some e' => [e'] | None => [] end.
Definition restrict : (op call unit -> bool) -> est -> list (op call unit) -> option (est * list (op call unit)) := only_idle (pure idle).

Theorem laws : Laws (step (does apply)) next abs eqb (same (call_eqb call_dec)) (pure idle) restrict.
Proof.
  assert (P : PureSound (step (does apply)) (pure idle)).
  { intros c k s s' I H%acts_does. eapply idle_same; eauto. }
  constructor; auto.
  - intros e s c k e' A H. unfold next in H. pose proof (run_agrees e s c A) as R. destruct (run e c) as [e1|]; [|easy]. destruct H as [<-|[]].
    simpl in R. destruct (apply s c) as [s'|] eqn:E; [|easy]. exists s'. split; auto. now apply acts_does.
  - intros e s c k s' A H%acts_does. pose proof (run_agrees e s c A) as R. unfold does in H. rewrite H in R. unfold next. destruct (run e c) as [e'|]; [|easy].
    exists e'. simpl. auto.
  - intros c k c' k' H. unfold same, call_eqb in H. destruct k as [[]|], k' as [[]|]; try easy; destruct (call_dec c c'); try easy; now subst.
  - now apply only_idle_sound.
Qed.
End Stored.

(** ** A list of trees, each twice as long as the ones before it, or as long: the first element is found at once, and the others in logarithmic time. *)
Section Trees.
Variable nothing : positive.
Inductive tree := Leaf (v : positive) | Node (v : positive) (l r : tree).
Fixpoint flat (t : tree) : list positive := match t with Leaf v => [v] | Node v l r => v :: flat l ++ flat r end.
(** A size is 1, or 1 and two halves. *)
Fixpoint full (size : positive) (t : tree) : Prop :=
  match size, t with xH, Leaf _ => True | xI half, Node _ l r => full half l /\ full half r | _, _ => False end.
Definition trees := list (positive * tree).
Definition all (ts : trees) : list positive := flat_map (fun t => flat (snd t)) ts.
Definition sound (ts : trees) : Prop := Forall (fun t => full (fst t) (snd t)) ts.
Definition push (v : positive) (ts : trees) : trees :=
  match ts with
  | (n, t) :: (m, u) :: rest => if Pos.eqb n m then (xI n, Node v t u) :: rest else (xH, Leaf v) :: ts
  | _ => (xH, Leaf v) :: ts
  end.
Open Scope Z_scope.
Fixpoint within (i : Z) (size : positive) (t : tree) : positive :=
  match size, t with
  | xI half, Node v l r => if i =? 0 then v else if i <=? Zpos half then within (i - 1) half l else within (i - 1 - Zpos half) half r
  | _, Leaf v => v
  | _, _ => nothing
  end.
Fixpoint at_ (i : Z) (ts : trees) : positive :=
  match ts with [] => nothing | (n, t) :: ts => if i <? Zpos n then within i n t else at_ (i - Zpos n) ts end.

Lemma full_length size : forall t, full size t -> Z.of_nat (length (flat t)) = Zpos size.
Proof.
  induction size as [half IH| |]; intros [v|v l r]; simpl; try easy. intros [L R]. apply IH in L, R. rewrite app_length. lia.
Qed.
Lemma push_sound v ts : sound ts -> sound (push v ts) /\ all (push v ts) = v :: all ts.
Proof.
  unfold sound. destruct ts as [|(n, t) [|(m, u) rest]]; simpl; intros S; [now repeat constructor|split; auto; now constructor|].
  destruct (Pos.eqb_spec n m) as [->|]; [|split; auto; now constructor]. inversion S as [|? ? T S']; subst. inversion S' as [|? ? U S'']; subst. simpl in T, U.
  split; [constructor; simpl; auto|]. simpl. now rewrite app_assoc.
Qed.
Lemma within_nth size : forall i t, full size t -> 0 <= i < Zpos size -> within i size t = nth (Z.to_nat i) (flat t) nothing.
Proof.
  induction size as [half IH|?|]; intros i [v|v l r]; cbn [full within flat]; try easy.
  - intros [L R] B. destruct (Z.eqb_spec i 0) as [->|N]; auto. replace (Z.to_nat i) with (S (Z.to_nat (i - 1))) by lia. cbn [nth]. pose proof (full_length _ _ L).
    destruct (Z.leb_spec i (Zpos half)).
    + rewrite IH, app_nth1 by (auto; lia). easy.
    + rewrite IH, app_nth2 by (auto; lia). f_equal. lia.
  - intros _ B. now replace i with 0 by lia.
Qed.
Lemma at_nth ts : sound ts -> forall i, 0 <= i -> at_ i ts = nth (Z.to_nat i) (all ts) nothing.
Proof.
  induction 1 as [|[n t] ts F S IH]; simpl in *; intros i P; [now destruct (Z.to_nat i)|]. pose proof (full_length _ _ F).
  destruct (Z.ltb_spec i (Zpos n)).
  - rewrite within_nth, app_nth1 by (auto; lia). easy.
  - rewrite IH, app_nth2 by lia. f_equal. lia.
Qed.
End Trees.

(** ** A log, as trees *)
Module StoredLog.
Import Log.
Open Scope Z_scope.
Section Nothing.
Variable nothing : positive.
Definition est := (trees * Z)%type.
Definition view (e : est) : state := (all (fst e), snd e).
Definition abs (e : est) (s : state) : Prop := sound (fst e) /\ view e = s.
Definition run (e : est) (c : call) : option est :=
  let (ts, size) := e in
  match c with
  | Append v at_ expected => if fits at_ size && fits expected size then Some (push v ts, size + 1) else None
  | ReadAt offset v =>
    let found := if (0 <=? offset) && (offset <? size) then at_ nothing (size - 1 - offset) ts else nothing in
    if Pos.eqb found v then Some e else None
  | Tail n => if n =? size then Some e else None
  | ReadAll vs => if equal (rev' vs) (all ts) then Some e else None
  | Nothing => Some e
  end.
Definition tree_dec (t u : tree) : {t = u} + {t <> u}.
Proof. decide equality; apply Pos.eq_dec. Defined.
Definition est_dec : forall e e' : est, {e = e'} + {e <> e'} := pair_dec (list_eq_dec (pair_dec Pos.eq_dec tree_dec)) Z.eq_dec.
Definition eqb (e e' : est) : bool := if est_dec e e' then true else false.
Definition stored (s : state) : est := (fold_right push [] (fst s), snd s).
Lemma stored_abs s : abs (stored s) s.
Proof.
  destruct s as [vs n]. unfold abs, view, stored. simpl.
  assert (A : sound (fold_right push [] vs) /\ all (fold_right push [] vs) = vs).
  { induction vs as [|v l [S A]]; simpl; [now split; [constructor|]|]. destruct (push_sound v _ S) as [S' ->]. now rewrite A. }
  destruct A as [S ->]. now split.
Qed.
Theorem run_agrees e s c : abs e s -> agrees abs (run e c) (apply nothing s c).
Proof.
  destruct e as [ts n]. unfold abs, view. simpl. intros [S <-]. destruct c as [v a x|i v|m|vs|]; simpl.
  - destruct (_ && _); simpl; auto. destruct (push_sound v _ S) as [S' ->]. now split.
  - destruct (Z.leb_spec 0 i); [destruct (Z.ltb_spec i n)|]; simpl; [rewrite at_nth by (auto; lia)|..]; now destruct (Pos.eqb _ _).
  - now destruct (_ =? _).
  - now destruct (equal _ _).
  - easy.
Qed.
End Nothing.
Lemma eqb_sound : EqbSound abs eqb.
Proof. unfold eqb. intros e e' s H A. destruct (est_dec e e'); [now subst|easy]. Qed.
End StoredLog.

(** ** Lists by key *)
Module StoredLists.
Import Lists.
Definition est := PM.t (list positive).
Definition look (e : est) (k : positive) : list positive := match PM.find k e with Some l => l | None => [] end.
Definition abs (e : est) (s : state) : Prop := forall k, look e k = list_of s k.
Definition do_ (e : est) (m : micro) : option est :=
  match m with
  | Append k v => Some (PM.add k (v :: look e k) e)
  | Read k vs => if equal vs (look e k) then Some e else None
  end.
Fixpoint run (e : est) (c : list micro) : option est :=
  match c with [] => Some e | m :: c => match do_ e m with Some e => run e c | None => None end end.
Definition eqb (e e' : est) : bool := PM.equal equal e e'.
Definition stored (s : state) : est := fold_right (fun x e => PM.add (fst x) (snd x) e) (PM.empty _) s.
Definition view (e : est) : state := PM.elements e.
Lemma look_add e k l j : look (PM.add k l e) j = if Pos.eqb k j then l else look e j.
Proof. unfold look. destruct (Pos.eqb_spec k j) as [->|N]; [now rewrite PM.gss|rewrite PM.gso; congruence]. Qed.
Lemma stored_abs s : abs (stored s) s.
Proof.
  unfold abs. induction s as [|[k l] s IH]; intros j; simpl; [unfold look; now rewrite PM.gempty|].
  rewrite look_add. unfold list_of. simpl. destruct (Pos.eqb k j); auto. apply IH.
Qed.
Lemma list_of_view e k : list_of (view e) k = look e k.
Proof.
  unfold list_of, view, look. destruct (find _ _) as [[j l]|] eqn:F.
  - apply find_some in F as [H E]. simpl in *. apply Pos.eqb_eq in E as ->. now rewrite (PM.elements_complete _ _ _ H).
  - destruct (PM.find k e) eqn:E; auto. apply PM.elements_correct in E. apply (find_none _ _ F) in E. simpl in E. now rewrite Pos.eqb_refl in E.
Qed.
Lemma list_of_append (s : state) k l j :
  list_of ((k, l) :: filter (fun x => negb (Pos.eqb (fst x) k)) s) j = if Pos.eqb k j then l else list_of s j.
Proof.
  unfold list_of. simpl. destruct (Pos.eqb_spec k j) as [|N]; auto.
  induction s as [|[i m] s IH]; simpl; auto. destruct (Pos.eqb_spec i k) as [->|]; simpl.
  - destruct (Pos.eqb_spec k j); [easy|exact IH].
  - destruct (Pos.eqb_spec i j); auto.
Qed.
Lemma do_agrees e s m : abs e s -> agrees abs (do_ e m) (do s m).
Proof.
  intros A. destruct m as [k v|k vs]; simpl.
  - intros j. now rewrite look_add, list_of_append, !A.
  - rewrite A. now destruct (equal _ _).
Qed.
Theorem run_agrees e s c : abs e s -> agrees abs (run e c) (apply s c).
Proof.
  revert e s. induction c as [|m c IH]; simpl; intros e s A; auto. pose proof (do_agrees e s m A) as D.
  destruct (do_ e m), (do s m); simpl in D; try easy; auto.
Qed.
Lemma eqb_sound : EqbSound abs eqb.
Proof.
  intros e e' s H A k. rewrite <- A. apply PM.equal_2 in H as [I M]. specialize (I k). specialize (M k). unfold look.
  destruct (PM.find k e) as [l|] eqn:E, (PM.find k e') as [l'|] eqn:E'; auto.
  - symmetry. apply equal_spec. now apply M.
  - destruct (proj1 I (ex_intro _ l E)) as (x & X). unfold PM.MapsTo in X. congruence.
  - destruct (proj2 I (ex_intro _ l' E')) as (x & X). unfold PM.MapsTo in X. congruence.
Qed.
End StoredLists.
