(** Operations each of which comes before the next one, and the last one before the first. No search is needed, and nothing of the other operations but
whether they make certain facts true.

A call that denies a fact about states cannot happen where it is true, and such a fact lasts: once true, it stays true. If x denies what y tells, x comes
before y. An operation is certain to occur if it returned. It is also certain if an operation that returned tells a fact, and no other operation makes that
fact true. *)

From Coq Require Import List PArith Bool Lia.
From Clew Require Import History Order First.
Import ListNotations.

Open Scope nat_scope.

(** The states of a run. *)
Lemma places {call answer state} (step : state -> call -> answer -> state -> Prop) s os :
  run step s os -> exists st : nat -> state, st O = s /\ forall i o, nth_error os i = Some o -> effect step o (st i) (st (S i)).
Proof.
  induction 1 as [s|s o s' os E R (st & Z & T)]; [exists (fun _ => s); split; auto; now intros []|].
  exists (fun i => match i with O => s | S i => st i end). split; auto. intros [|i] x; simpl; [|apply T]. intros X. injection X as <-. now rewrite Z.
Qed.

Section Growing.
Context {call answer state fact : Type}.
Notation op := (op call answer).
Variable step : state -> call -> answer -> state -> Prop.
Variables init start : state.
Variable has : fact -> state -> bool.
Definition holds (f : fact) (s : state) : Prop := has f s = true.
(** [start] stands for [init], whose facts it has. *)
Definition initial (f : fact) : bool := has f start.
Hypothesis alike : forall f, has f start = has f init.
(** A call tells what is true after it, wants what is true before it, denies what is not true before it, and makes what may not have been true before it.
It makes f only where g was true if it needs g for f. It is absurd if it denies what it has told before. *)
Variables tells wants denies makes absurd : call -> fact -> bool.
Variable needs : call -> fact -> fact -> bool.
Record Growth := {
  stays : forall s c a s' f x, denies x f = true -> step s c a s' -> holds f s -> holds f s';
  told : forall s c a s' f, step s c a s' -> tells c f = true -> holds f s';
  wanted : forall s c a s' f, step s c a s' -> wants c f = true -> holds f s;
  refused : forall s c a s' f, step s c a s' -> denies c f = true -> ~ holds f s;
  made : forall s c a s' f, step s c a s' -> holds f s' -> makes c f = false -> holds f s;
  needed : forall s c a s' f g, step s c a s' -> holds f s' -> needs c f g = true -> holds f s \/ holds g s;
  never : forall s c a s' f, step s c a s' -> absurd c f = false }.
Hypothesis growth : Growth.
Variable h : list op.

(** Why x comes before y. *)
Inductive why :=
  | Time               (* x returned before y was called *)
  | Denied (f : fact)  (* x denies f, and y tells it; or x itself is impossible *)
  | Made (f : fact)    (* only x makes f, and y wants it *)
  | Needed (f g : fact) (z : positive)  (* only y makes f, which z tells; it needs g for that; and only x makes g *)
  | Unmade (f : fact). (* x cannot occur: it tells or wants f, and nothing makes f *)
(** An operation, what tells that it occurred if it did not return, and why it comes before the next one. *)
Record node := Node { who : positive; seen_by : option (fact * positive); because : why }.

Definition named (i : positive) : option op := find (fun o => Pos.eqb (inv o) i) h.
Definition makers (f : fact) : list op := filter (fun o => makes (what o) f) h.
Definition only (x : op) (f : fact) : bool := negb (initial f) && makes (what x) f && match makers f with [_] => true | _ => false end.
Definition precedes_b (x y : op) : bool := match ret x with Some t => (t <? inv y)%positive | None => false end.
Definition told_by (f : fact) (i : positive) : bool := match named i with Some z => returned z && tells (what z) f | None => false end.
Definition occurs (x : op) (seen : option (fact * positive)) : bool :=
  returned x || match seen with Some (f, z) => only x f && told_by f z | None => false end.
Definition comes_before (x y : op) (w : why) : bool :=
  match w with
  | Time => negb (Pos.eqb (inv x) (inv y)) && precedes_b x y
  | Denied f => if Pos.eqb (inv x) (inv y) then absurd (what x) f || initial f && denies (what x) f else denies (what x) f && tells (what y) f
  | Made f => only x f && wants (what y) f
  | Needed f g z => only x g && only y f && told_by f z && needs (what y) f g
  | Unmade f => negb (initial f) && (tells (what x) f || wants (what x) f) && match makers f with [] => true | _ => false end
  end.
Fixpoint path (first x : op) (w : why) (rest : list node) : verdict :=
  match rest with
  | [] => if comes_before x first w then Accepted else Rejected NoCycle (inv x)
  | n :: rest =>
    match named (who n) with
    | Some y => if occurs y (seen_by n) && comes_before x y w then path first y (because n) rest else Rejected NoCycle (inv x)
    | None => Rejected NoCore (who n)
    end
  end.
Definition cycle (nodes : list node) : verdict :=
  match nodes with
  | n :: rest =>
    match named (who n) with
    | Some x => if occurs x (seen_by n) then path x x (because n) rest else Rejected NoCycle (who n)
    | None => Rejected NoCore (who n)
    end
  | [] => Rejected NoCycle 1
  end.

Lemma states s os : run step s os -> exists st : nat -> state, st O = s /\ forall i o, nth_error os i = Some o -> exists a, step (st i) (what o) a (st (S i)).
Proof.
  intros (st & Z & T)%places. exists st. split; auto. intros i o E. specialize (T _ _ E). unfold effect, acts in T. destruct (known o); eauto.
Qed.

Section Linearized.
Variable os : list op.
Hypothesis lin : linearization step init h os.
Variable st : nat -> state.
Hypothesis zero : st O = init.
Hypothesis steps : forall i o, nth_error os i = Some o -> exists a, step (st i) (what o) a (st (S i)).

Lemma grows f x i j : denies x f = true -> i <= j -> j <= length os -> holds f (st i) -> holds f (st j).
Proof.
  intros D. induction 1 as [|j L IH]; auto. intros B H. destruct (nth_error os j) as [o|] eqn:E; [|apply nth_error_None in E; lia].
  destruct (steps _ _ E) as (a & X). eapply stays; eauto. apply IH; auto. lia.
Qed.
Lemma place_unique x i j : nth_error os i = Some x -> nth_error os j = Some x -> i = j.
Proof. intros I J. apply (proj1 (NoDup_nth_error os)); [apply lin|apply nth_error_Some|]; congruence. Qed.
Lemma source f j : initial f = false -> j <= length os -> holds f (st j) ->
  exists m o, m < j /\ nth_error os m = Some o /\ In o (makers f) /\ holds f (st (S m)).
Proof.
  intros I. induction j as [|j IH]; intros B H.
  { rewrite zero in H. unfold initial in I. rewrite alike in I. congruence. }
  destruct (nth_error os j) as [o|] eqn:E; [|apply nth_error_None in E; lia]. destruct (makes (what o) f) eqn:M.
  - exists j, o. repeat split; auto. apply filter_In. split; auto. apply (of_history _ _ _ _ lin). eapply nth_error_In; eauto.
  - destruct (steps _ _ E) as (a & X). destruct IH as (m & o' & L & R); [lia|eapply made; eauto|]. exists m, o'. split; auto.
Qed.
(** What only x makes was made where x stands, and was not true there before. *)
Lemma origin x f j : In x h -> only x f = true -> j <= length os -> holds f (st j) ->
  exists m, m < j /\ nth_error os m = Some x /\ holds f (st (S m)) /\ ~ holds f (st m).
Proof.
  unfold only. rewrite !andb_true_iff, negb_true_iff. intros Hx [[I M] O] B H.
  assert (X : forall o, In o (makers f) -> o = x).
  { intros o Ho. assert (Hm : In x (makers f)) by (apply filter_In; auto). destruct (makers f) as [|y [|]]; try easy. destruct Ho as [<-|[]], Hm as [<-|[]]; auto. }
  destruct (source _ _ I B H) as (m & o & L & E & Hm & Hs). apply X in Hm as ->. exists m. repeat split; auto. intros Hf.
  destruct (source f m I) as (m' & o & L' & E' & Hm & _); auto; [lia|]. apply X in Hm as ->. rewrite (place_unique _ _ _ E E') in L'. lia.
Qed.
Lemma named_in i x : named i = Some x -> In x h.
Proof. intros H%find_some. tauto. Qed.
Lemma returned_in x : In x h -> returned x = true -> exists i, nth_error os i = Some x.
Proof. intros Hx R. apply In_nth_error. apply (has_returned _ _ _ _ lin); auto. unfold returned in R. destruct (ret x); congruence. Qed.
Lemma bound i (x : op) : nth_error os i = Some x -> S i <= length os.
Proof. intros E. apply nth_error_Some. congruence. Qed.
Lemma told_where f z : told_by f z = true -> exists j, j <= length os /\ holds f (st j).
Proof.
  unfold told_by. destruct (named z) as [o|] eqn:N; [|easy]. rewrite andb_true_iff. intros [R T].
  destruct (returned_in _ (named_in _ _ N) R) as (j & E). exists (S j). split; [eapply bound; eauto|]. destruct (steps _ _ E) as (a & X). eapply told; eauto.
Qed.
Lemma occurs_where x seen : In x h -> occurs x seen = true -> exists i, nth_error os i = Some x.
Proof.
  unfold occurs. intros Hx O. apply orb_true_iff in O as [R|O]; [now apply returned_in|]. destruct seen as [[f z]|]; [|easy].
  apply andb_true_iff in O as [O T]. destruct (told_where _ _ T) as (j & B & H). destruct (origin _ _ _ Hx O B H) as (m & _ & E & _). eauto.
Qed.

Lemma comes_before_sound x y w i j : In x h -> In y h -> comes_before x y w = true -> nth_error os i = Some x -> nth_error os j = Some y -> i < j.
Proof.
  intros Hx Hy C Ei Ej. destruct (steps _ _ Ei) as (a & Xi), (steps _ _ Ej) as (b & Xj). pose proof (bound _ _ Ei) as Bi. pose proof (bound _ _ Ej) as Bj.
  assert (D : Pos.eqb (inv x) (inv y) = false -> i < j \/ j < i). { intros N%Pos.eqb_neq. assert (i <> j) by congruence. lia. }
  destruct w as [|f|f|f g z|f]; simpl in C; rewrite ?andb_true_iff, ?negb_true_iff in C.
  - destruct C as [N P]. destruct (D N) as [|L]; auto. exfalso. unfold precedes_b in P. destruct (ret x) as [t|] eqn:Rt; [|easy]. apply Pos.ltb_lt in P.
    pose proof (respects_time _ _ _ _ lin) as T. apply nth_error_split in Ej as (l1 & l2 & -> & <-).
    assert (T' : in_time (y :: l2)). { clear - T. induction l1 as [|o l1 IH]; simpl in *; [easy|]. apply IH. tauto. }
    destruct T' as [T' _]. apply (T' x); [|now exists t]. rewrite nth_error_app2 in Ei by lia.
    destruct (i - length l1) eqn:E; [lia|]. simpl in Ei. eapply nth_error_In; eauto.
  - destruct (Pos.eqb (inv x) (inv y)) eqn:N.
    + exfalso. apply orb_true_iff in C as [A|C]; [rewrite (never growth _ _ _ _ f Xi) in A; easy|]. apply andb_true_iff in C as [I R].
      apply (refused growth _ _ _ _ f Xi R). apply (grows f (what x) 0); [easy|lia|lia|]. rewrite zero. unfold holds. now rewrite <- alike.
    + apply andb_true_iff in C as [R T]. destruct (D eq_refl) as [|L]; auto. exfalso. apply (refused growth _ _ _ _ f Xi R).
      apply (grows f (what x) (S j)); [easy|lia|lia|]. eapply told; eauto.
  - destruct C as [O W]. destruct (origin x f j) as (m & L & E & _); auto; [lia|eapply wanted; eauto|]. now rewrite (place_unique _ _ _ Ei E).
  - destruct C as [[[O Of] T] N]. destruct (told_where _ _ T) as (l & B & H). destruct (origin _ _ _ Hy Of B H) as (m & _ & E & Hs & Hn).
    rewrite (place_unique _ _ _ E Ej) in *. destruct (needed growth _ _ _ _ _ _ Xj Hs N) as [|G]; [easy|].
    destruct (origin x g j) as (m' & L & E' & _); auto; [lia|]. now rewrite (place_unique _ _ _ Ei E').
  - exfalso. destruct C as [[I T] M]. destruct (source f (S i)) as (m & o & _ & _ & Hm & _); auto; [|now destruct (makers f)].
    apply orb_true_iff in T as [T|T]; [eapply told; eauto|]. exfalso. destruct (source f i) as (m & o & _ & _ & Hm & _); auto; [lia|eapply wanted; eauto|]. now destruct (makers f).
Qed.

Lemma path_sound first i rest : forall x w j, nth_error os i = Some first -> In first h -> nth_error os j = Some x -> In x h -> i <= j ->
  path first x w rest = Accepted -> False.
Proof.
  induction rest as [|n rest IH]; simpl; intros x w j Ei Hf Ej Hx L P.
  { destruct (comes_before x first w) eqn:C; [|easy]. pose proof (comes_before_sound _ _ _ _ _ Hx Hf C Ej Ei). lia. }
  destruct (named (who n)) as [y|] eqn:N; [|easy]. apply named_in in N. destruct (_ && _) eqn:C in P; [|easy]. apply andb_true_iff in C as [O C].
  destruct (occurs_where _ _ N O) as (l & El). pose proof (comes_before_sound _ _ _ _ _ Hx N C Ej El). eapply (IH y); eauto. lia.
Qed.
End Linearized.

Theorem cycle_sound nodes : cycle nodes = Accepted -> ~ Linearizable step init h.
Proof.
  intros C (os & lin). destruct (states _ _ (runs _ _ _ _ lin)) as (st & Z & T). destruct nodes as [|n rest]; [easy|]. simpl in C.
  destruct (named (who n)) as [x|] eqn:N; [|easy]. apply named_in in N. destruct (occurs x (seen_by n)) eqn:O; [|easy].
  destruct (occurs_where os lin st Z T _ _ N O) as (i & E). eapply (path_sound os lin st Z T); eauto.
Qed.
(** ** Two operations, each of which comes before the other one; or one that cannot occur

It is a proposal, which [cycle] checks. It tries facts that a call is about, and those that are given at the start. *)
Variable about : call -> list fact.
Variable given : state -> list fact.
Definition reasons (x y : op) : list why := Time :: map Denied (about (what y) ++ about (what x)).
Definition steps (x y : op) : list node :=
  if Pos.eqb (inv x) (inv y) then
    match find (comes_before x x) (reasons x x ++ map Denied (given start) ++ map Unmade (about (what x))) with Some w => [Node (inv x) None w] | None => [] end
  else
    match find (comes_before x y) (reasons x y), find (comes_before y x) (reasons y x) with
    | Some v, Some w => [Node (inv x) None v; Node (inv y) None w]
    | _, _ => []
    end.
End Growing.

(** ** As [check_invalid], with operations that contradict each other in place of a core *)
Section Contradiction.
Context {call answer state est : Type}.
Notation op := (op call answer).
Variable step : state -> call -> answer -> state -> Prop.
Variable next : est -> call -> option answer -> list est.
Variable abs : est -> state -> Prop.
Hypothesis next_sound : NextSound step next abs.
Variable distinct : list est -> list est -> bool.
Variable refute : list op -> verdict.
Definition check_cycle (init : est) (h : list op) (time : positive) (before : list positive) : verdict :=
  if sorted h then
    if sane h then
      match check_order next distinct init (begun_by (Pos.pred time) h) before with
      | Accepted => refute (begun_by time h)
      | no => no
      end
    else Rejected Unsorted 1
  else Rejected Unsorted 1.

Theorem check_cycle_sound init h time before s : check_cycle init h time before = Accepted -> abs init s ->
  (forall part, sorted part = true -> sane part = true -> refute part = Accepted -> ~ Linearizable step s part) -> FirstFailure step s h time /\ ~ Linearizable step s h.
Proof.
  unfold check_cycle. rewrite !begun_by_prefix. destruct (sorted h) eqn:S; [|easy]. destruct (sane h) eqn:W; [|easy].
  destruct (check_order _ _ _ _ _) eqn:O; [|easy]. intros C A R. assert (N := R _ (prefix_sorted _ _ S) (prefix_sane _ _ W) C).
  split; [|eapply whole_fails; eauto]. apply first_sound; auto. exact (check_order_sound step next abs next_sound distinct _ _ _ _ O A).
Qed.
End Contradiction.
