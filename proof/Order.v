(** Whether an order is a linearization.

[next] computes the states that a step leads to. It works on a representation of states; [abs e s] says that [e] stands for [s].
The order is read once, and the history beside it. A table has the operations that were called so far and are not in the order yet. It
stays small, as they are open then, or crashed. The latest invocation so far says whether an operation comes too late. *)

From Coq Require Import List PArith FMapPositive Bool Lia.
From Clew Require Import History.
Import ListNotations.
Open Scope positive_scope.

Module PM := PositiveMap.

Inductive reason := Unsorted | NotOfHistory | Twice | TooLate | Impossible | Missing | NoCore | NotClosed | Survives | NotAlone | NoCycle | NoPattern.
Inductive verdict := Accepted | Rejected (why : reason) (operation : positive).

Section Index.
Context {call answer : Type}.
Notation op := (op call answer).

(** Operations are told by the times of their invocations. *)
Fixpoint ascending (last : positive) (h : list op) : bool :=
  match h with [] => true | o :: h => if last <? inv o then ascending (inv o) h else false end.
(** Times begin at 2. *)
Definition sorted : list op -> bool := ascending 1.

Lemma ascending_later h : forall last, ascending last h = true -> forall o, In o h -> last < inv o.
Proof.
  induction h as [|x h IH]; simpl; intros last H o Ho; [easy|].
  destruct (last <? inv x) eqn:E; [|easy]. apply Pos.ltb_lt in E.
  destruct Ho as [->|Ho]; [easy|]. specialize (IH _ H _ Ho). lia.
Qed.

Lemma sorted_unique h : sorted h = true -> forall x y, In x h -> In y h -> inv x = inv y -> x = y.
Proof.
  unfold sorted. generalize 1. induction h as [|o h IH]; simpl; intros last H x y; [easy|].
  destruct (last <? inv o); [|easy].
  intros [<-|Hx] [<-|Hy] E; eauto; [pose proof (ascending_later _ _ H _ Hy)|pose proof (ascending_later _ _ H _ Hx)]; lia.
Qed.

End Index.

Section Order.
Context {call answer state est : Type}.
Notation op := (op call answer).
Variable step : state -> call -> answer -> state -> Prop.
Variable next : est -> call -> option answer -> list est.
Variable abs : est -> state -> Prop.
Definition NextSound := forall e s c k e', abs e s -> In e' (next e c k) -> exists s', acts step c k s s' /\ abs e' s'.
Hypothesis next_sound : NextSound.

(** States that are met again may be dropped. How that is found out need not be trusted. *)
Variable distinct : list est -> list est -> bool.
Definition thin (es : list est) : list est := fold_left (fun kept e => if distinct kept [e] then e :: kept else kept) es [].

Lemma thin_incl es : incl (thin es) es.
Proof.
  unfold thin. assert (G : forall kept, incl (fold_left (fun kept e => if distinct kept [e] then e :: kept else kept) es kept) (kept ++ es)).
  { induction es as [|e es IH]; simpl; intros kept x Hx; [now rewrite app_nil_r|].
    apply IH in Hx. destruct (distinct kept [e]); simpl in *; rewrite in_app_iff in *; simpl; tauto. }
  exact (G []).
Qed.

Fixpoint load (time : positive) (calls : list op) (m : PM.t op) : list op * PM.t op :=
  match calls with [] => ([], m) | o :: rest => if inv o <=? time then load time rest (PM.add (inv o) o m) else (calls, m) end.

Fixpoint walk (m : PM.t op) (calls : list op) (latest : positive) (es : list est) (order : list positive) : reason * positive + PM.t op * list op :=
  match order with
  | [] => inr (m, calls)
  | i :: order =>
    let (calls, m) := load i calls m in
    match PM.find i m with
    | None => inl (NotOfHistory, i)
    | Some o =>
      if match ret o with Some t => t <? latest | None => false end then inl (TooLate, i) else
      match thin (flat_map (fun e => next e (what o) (known o)) es) with
      | [] => inl (Impossible, i)
      | es => walk (PM.remove i m) calls (Pos.max latest (inv o)) es order
      end
    end
  end.

Definition returned (o : op) : bool := match ret o with Some _ => true | None => false end.
Definition absent (m : PM.t op) (calls : list op) : option op :=
  match find returned calls with
  | Some o => Some o
  | None => PM.fold (fun _ o found => if returned o then Some o else found) m None
  end.

Definition check_order (init : est) (h : list op) (order : list positive) : verdict :=
  if sorted h then
    match walk (PM.empty _) h 1 [init] order with
    | inl (NotOfHistory, i) => Rejected (if existsb (fun o => inv o =? i) h then Twice else NotOfHistory) i
    | inl (why, i) => Rejected why i
    | inr (m, calls) => match absent m calls with Some o => Rejected Missing (inv o) | None => Accepted end
    end
  else Rejected Unsorted 1.

Definition is_left (m : PM.t op) (calls : list op) (o : op) : Prop := PM.find (inv o) m = Some o \/ In o calls.
Definition in_step (m : PM.t op) (calls : list op) : Prop :=
  exists last, ascending last calls = true /\ forall k o, PM.find k m = Some o -> inv o = k /\ k <= last.

Lemma absent_none m calls : in_step m calls -> absent m calls = None -> forall o, is_left m calls o -> ret o = None.
Proof.
  unfold absent. intros (last & _ & K) A o Ho. assert (R : returned o = false); [|now unfold returned in R; destruct (ret o)].
  destruct (find returned calls) eqn:F; [easy|]. destruct Ho as [Ho|Ho]; [|exact (find_none _ _ F _ Ho)].
  rewrite PM.fold_1 in A. apply PM.elements_correct in Ho. clear F K. revert A.
  assert (G : forall (l : list (positive * op)) found, fold_left (fun a p => if returned (snd p) then Some (snd p) else a) l found = None -> found = None /\ forall p, In p l -> returned (snd p) = false).
  { clear. induction l as [|p l IH]; simpl; intros found H; [split; [easy|now intros]|]. destruct (IH _ H) as [E F]. destruct (returned (snd p)) eqn:R; [easy|].
    split; auto. intros q [<-|Hq]; auto. }
  intros A. exact (proj2 (G _ _ A) _ Ho).
Qed.

Lemma load_spec time : forall calls m calls' m', load time calls m = (calls', m') -> in_step m calls ->
  in_step m' calls' /\ (forall o, is_left m calls o <-> is_left m' calls' o) /\ forall o, In o calls' -> time < inv o.
Proof.
  induction calls as [|x calls IH]; simpl; intros m calls' m' L S.
  - injection L as <- <-. repeat split; auto. now intros.
  - assert (S' := S). destruct S' as (last & A & K). simpl in A. destruct (Pos.ltb_spec last (inv x)) as [Lx|]; [|easy].
    destruct (Pos.leb_spec (inv x) time) as [B|B].
    + destruct (IH _ _ _ L) as (S1 & E & C).
      { exists (inv x). split; auto. intros k o H. destruct (Pos.eq_dec k (inv x)) as [->|N].
        - rewrite PM.gss in H. injection H as ->. split; auto; lia.
        - rewrite PM.gso in H by auto. destruct (K _ _ H). split; auto; lia. }
      split; auto. split; auto. intros o. rewrite <- E. unfold is_left. simpl. split.
      * intros [H|[->|H]]; [left|left; apply PM.gss|auto]. rewrite PM.gso; auto. intros X. destruct (K _ _ H). lia.
      * intros [H|H]; auto. destruct (Pos.eq_dec (inv o) (inv x)) as [X|X]; [rewrite X, PM.gss in H; injection H as ->; auto|rewrite PM.gso in H; auto].
    + injection L as <- <-. split; auto. split; [easy|]. intros o [<-|Ho]; auto. pose proof (ascending_later _ _ A _ Ho). lia.
Qed.

Lemma walk_sound order : forall m calls latest es m' calls',
  walk m calls latest es order = inr (m', calls') -> in_step m calls -> es <> [] ->
  exists os, (forall o, In o os -> is_left m calls o) /\ NoDup os /\ in_time os
    /\ (exists e, In e es /\ forall s, abs e s -> run step s os)
    /\ (forall y t, In y os -> ret y = Some t -> latest <= t)
    /\ (forall o, is_left m calls o -> In o os \/ is_left m' calls' o)
    /\ in_step m' calls'.
Proof.
  induction order as [|i order IH]; simpl; intros m calls latest es m' calls' W S N.
  - exists []. injection W as <- <-. repeat split; try easy; [constructor| |auto].
    destruct es as [|e es]; [easy|]. exists e. split; [now left|]. intros; constructor.
  - destruct (load i calls m) as [calls1 m1] eqn:L. destruct (load_spec _ _ _ _ _ L S) as (S1 & E1 & C1).
    destruct (PM.find i m1) as [o|] eqn:F; [|easy].
    destruct (match ret o with Some t => t <? latest | None => false end) eqn:B; [easy|].
    destruct (thin _) as [|e1 es1] eqn:T in W; [easy|].
    assert (I : inv o = i) by (destruct S1 as (? & _ & K); now apply K in F). subst i.
    assert (G : forall y, is_left (PM.remove (inv o) m1) calls1 y -> is_left m1 calls1 y /\ y <> o).
    { intros y [H|H].
      - destruct (Pos.eq_dec (inv y) (inv o)) as [X|X]; [now rewrite X, PM.grs in H|]. rewrite PM.gro in H by auto. split; [now left|congruence].
      - split; [now right|]. specialize (C1 _ H). intros ->. lia. }
    apply IH in W as (os & Hi & Hd & Ht & (e & He & Hr) & Hl & Hf & S'); [| |easy].
    2: { destruct S1 as (last & A & K). exists last. split; auto. intros k x H.
         destruct (Pos.eq_dec k (inv o)) as [->|X]; [now rewrite PM.grs in H|rewrite PM.gro in H; auto]. }
    exists (o :: os). repeat split; auto.
    + intros x [<-|Hx]; apply E1; [now left|]. now apply G, Hi.
    + constructor; auto. intros Hx. now apply Hi, G in Hx.
    + intros y Hy (t & R & P). specialize (Hl _ _ Hy R). lia.
    + rewrite <- T in He. apply thin_incl, in_flat_map in He as (e0 & He0 & He).
      exists e0. split; [easy|]. intros s A. destruct (next_sound _ _ _ _ _ A He) as (s' & E & A').
      econstructor; eauto.
    + intros y t [<-|Hy] R; [rewrite R in B; now apply Pos.ltb_ge in B|]. specialize (Hl _ _ Hy R). lia.
    + intros y [Hy|Hy]%E1.
      * destruct (Pos.eq_dec (inv y) (inv o)) as [X|X].
        -- rewrite X in Hy. rewrite F in Hy. injection Hy as ->. left. now left.
        -- destruct (Hf y) as [|]; [left; now rewrite PM.gro|left; now right|now right].
      * destruct (Hf y) as [|]; [now right|left; now right|now right].
Qed.

Theorem check_order_sound init h order s : check_order init h order = Accepted -> abs init s -> Linearizable step s h.
Proof.
  unfold check_order. destruct (sorted h) eqn:S; [|easy].
  destruct (walk _ _ _ _ _) as [[[] i]|[m calls]] eqn:W; try easy. destruct (absent m calls) eqn:A; [easy|]. intros _ I.
  apply walk_sound in W as (os & Hi & Hd & Ht & (e & [<-|[]] & Hr) & _ & Hf & S'); [| |easy].
  2: { exists 1. split; auto. intros k o H. now rewrite PM.gempty in H. }
  exists os. constructor; auto.
  - intros o Ho. destruct (Hi _ Ho) as [X|X]; auto. now rewrite PM.gempty in X.
  - intros o Ho R. destruct (Hf o) as [|X]; [now right|easy|]. now rewrite (absent_none _ _ S' A _ X) in R.
Qed.
End Order.
