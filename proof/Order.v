(** Whether an order is a linearization.

[next] computes the states that a step leads to. It works on a representation of states; [abs e s] says that [e] stands for [s].
The order is read once. The latest invocation so far says whether an operation comes too late, and a set has those that were used. *)

From Coq Require Import List PArith FMapPositive Bool Lia.
From Clew Require Import History.
Import ListNotations.
Open Scope positive_scope.

Module PM := PositiveMap.

Inductive reason := Unsorted | NotOfHistory | Twice | TooLate | Impossible | Missing | NoCore | NotClosed | Survives | NotAlone.
Inductive verdict := Accepted | Rejected (why : reason) (operation : positive).

Section Index.
Context {call answer : Type}.
Notation op := (op call answer).

(** Operations are told by the times of their invocations. *)
Definition index (h : list op) : PM.t op := fold_left (fun m o => PM.add (inv o) o m) h (PM.empty _).

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

Lemma index_find h i o : PM.find i (index h) = Some o -> In o h /\ inv o = i.
Proof.
  unfold index. assert (G : forall m, PM.find i (fold_left (fun m o => PM.add (inv o) o m) h m) = Some o ->
    In o h /\ inv o = i \/ PM.find i m = Some o).
  { induction h as [|x h IH]; simpl; intros m H; [now right|].
    destruct (IH _ H) as [[Ho E]|E]; [tauto|].
    destruct (Pos.eq_dec i (inv x)) as [->|N].
    - rewrite PM.gss in E. injection E as ->. tauto.
    - rewrite PM.gso in E by easy. tauto. }
  intros H. destruct (G _ H) as [|E]; [easy|]. now rewrite PM.gempty in E.
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

Fixpoint walk (m : PM.t op) (latest : positive) (used : PM.t unit) (es : list est) (order : list positive) : reason * positive + PM.t unit :=
  match order with
  | [] => inr used
  | i :: order =>
    match PM.find i m with
    | None => inl (NotOfHistory, i)
    | Some o =>
      match PM.find i used with
      | Some _ => inl (Twice, i)
      | None =>
        if match ret o with Some t => t <? latest | None => false end then inl (TooLate, i) else
        match thin (flat_map (fun e => next e (what o) (known o)) es) with
        | [] => inl (Impossible, i)
        | es => walk m (Pos.max latest (inv o)) (PM.add i tt used) es order
        end
      end
    end
  end.

Fixpoint absent (used : PM.t unit) (h : list op) : option positive :=
  match h with
  | [] => None
  | o :: h => match ret o, PM.find (inv o) used with Some _, None => Some (inv o) | _, _ => absent used h end
  end.

Definition check_order (init : est) (h : list op) (order : list positive) : verdict :=
  if sorted h then
    match walk (index h) 1 (PM.empty _) [init] order with
    | inl (why, i) => Rejected why i
    | inr used => match absent used h with Some i => Rejected Missing i | None => Accepted end
    end
  else Rejected Unsorted 1.

Lemma absent_none used h : absent used h = None -> forall o, In o h -> ret o <> None -> PM.find (inv o) used <> None.
Proof.
  induction h as [|x h IH]; simpl; intros H o Ho R; [easy|].
  destruct Ho as [->|Ho].
  - destruct (ret o); [|easy]. now destruct (PM.find (inv o) used).
  - apply IH; [|easy|easy]. destruct (ret x); [|easy]. now destruct (PM.find (inv x) used).
Qed.

Lemma walk_sound h order : forall latest used es used',
  walk (index h) latest used es order = inr used' -> es <> [] ->
  exists os, incl os h /\ NoDup os /\ in_time os
    /\ (exists e, In e es /\ forall s, abs e s -> run step s os)
    /\ (forall y, In y os -> PM.find (inv y) used = None)
    /\ (forall y t, In y os -> ret y = Some t -> latest <= t)
    /\ (forall i, PM.find i used' <> None -> PM.find i used <> None \/ exists o, In o os /\ inv o = i).
Proof.
  induction order as [|i order IH]; simpl; intros latest used es used' W N.
  - exists []. injection W as ->. repeat split; try easy; [constructor| |tauto].
    destruct es as [|e es]; [easy|]. exists e. split; [now left|]. intros; constructor.
  - destruct (PM.find i (index h)) as [o|] eqn:F; [|easy]. apply index_find in F as [Ho <-].
    destruct (PM.find (inv o) used) eqn:U; [easy|].
    destruct (match ret o with Some t => t <? latest | None => false end) eqn:L; [easy|].
    destruct (thin _) as [|e1 es1] eqn:S in W; [easy|].
    apply IH in W as (os & Hi & Hd & Ht & (e & He & Hr) & Hu & Hl & Hf); [|easy].
    exists (o :: os). repeat split.
    + intros x [<-|Hx]; auto.
    + constructor; [|easy]. intros Hx. specialize (Hu _ Hx). now rewrite PM.gss in Hu.
    + intros y Hy (t & R & P). specialize (Hl _ _ Hy R). lia.
    + easy.
    + rewrite <- S in He. apply thin_incl, in_flat_map in He as (e0 & He0 & He).
      exists e0. split; [easy|]. intros s A. destruct (next_sound _ _ _ _ _ A He) as (s' & E & A').
      econstructor; eauto.
    + intros y [<-|Hy]; [easy|]. specialize (Hu _ Hy).
      destruct (Pos.eq_dec (inv y) (inv o)) as [E|E]; [rewrite E, PM.gss in Hu|rewrite PM.gso in Hu]; easy.
    + intros y t [<-|Hy] R; [rewrite R in L; now apply Pos.ltb_ge in L|]. specialize (Hl _ _ Hy R). lia.
    + intros j Hj. destruct (Hf _ Hj) as [G|(x & Hx & E)]; [|right; exists x; split; [now right|easy]].
      destruct (Pos.eq_dec j (inv o)) as [->|D]; [right; exists o; split; [now left|easy]|].
      rewrite PM.gso in G by easy. now left.
Qed.

Theorem check_order_sound init h order s : check_order init h order = Accepted -> abs init s -> Linearizable step s h.
Proof.
  unfold check_order. destruct (sorted h) eqn:S; [|easy].
  destruct (walk _ _ _ _ _) as [[]|used] eqn:W; [easy|]. destruct (absent used h) eqn:A; [easy|]. intros _ I.
  apply walk_sound in W as (os & Hi & Hd & Ht & (e & [<-|[]] & Hr) & _ & _ & Hf); [|easy].
  exists os. constructor; auto.
  intros o Ho R. destruct (Hf _ (absent_none _ _ A _ Ho R)) as [G|(x & Hx & E)]; [now rewrite PM.gempty in G|].
  now rewrite (sorted_unique _ S o x) by auto.
Qed.
End Order.
