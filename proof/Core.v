(** Whether operations have no linearization.

A configuration is a state, and which of the open operations have happened. The operations that return are taken in turn. A search that is not
trusted proposes configurations that may be reached before each return. They are a log of the search. What is checked is that it is closed:
what the layer before has, and what one more operation leads to, is in it. There are shortcuts:
- an operation that changes nothing may happen as soon as it is open;
- of operations that mean the same, the one that returns first may happen first;
- a configuration is covered by one that has the same state, and in which fewer of the operations that never return have happened;
- an operation that returns may happen first, unless something before it may see that. A configuration in which something that sees it must come
  before it is *pledged* to that;
- a configuration leads nowhere if some open operation can no longer return what it will return, whatever happens before.
If no configuration is left after some return, there is no linearization. *)

From Coq Require Import List PArith FMapPositive Bool Arith Lia.
From Clew Require Import History Order First.
Import ListNotations.
Open Scope positive_scope.

Section Core.
Context {call answer state est : Type}.
Notation op := (op call answer).
Variable step : state -> call -> answer -> state -> Prop.
Variable next : est -> call -> option answer -> list est.
Variable abs : est -> state -> Prop.
Definition NextComplete := forall e s c k s', abs e s -> acts step c k s s' -> exists e', In e' (next e c k) /\ abs e' s'.
Hypothesis next_complete : NextComplete.

(** Equal representations stand for the same states. *)
Variable eqb : est -> est -> bool.
Definition EqbSound := forall e e' s, eqb e e' = true -> abs e s -> abs e' s.
Hypothesis eqb_sound : EqbSound.

(** Calls with answers that mean the same, and those that change nothing. *)
Variable same : call -> option answer -> call -> option answer -> bool.
Definition SameSound := forall c k c' k', same c k c' k' = true -> c = c' /\ k = k'.
Hypothesis same_sound : SameSound.
Variable pure : call -> option answer -> bool.
Definition PureSound := forall c k s s', pure c k = true -> acts step c k s s' -> s' = s.
Hypothesis pure_sound : PureSound.

Definition config := (est * list positive)%type.
Variable hash : config -> positive.
(* The configurations, and those that are pledged. *)
Variable search : list (op * list op) -> list op -> op -> list config -> list config * list config.

(** No operations that are called later, or are left, let [y] happen. *)
Variable hopeless : est -> op -> list op -> list op -> bool.
Definition HopelessSound := forall e y later left s w, hopeless e y later left = true -> abs e s -> NoDup w ->
  (forall x, In x w -> In x later \/ In x left /\ inv x <> inv y) -> ~ run step s (w ++ [y]).
Hypothesis hopeless_sound : HopelessSound.

(** The first may happen before the second, if it happens right after it. *)
Variable moves : call -> option answer -> call -> option answer -> bool.
Definition MovesSound := forall x k y l s s1 s2, moves x k y l = true -> acts step y l s s1 -> acts step x k s1 s2 ->
  exists s1', acts step x k s s1' /\ acts step y l s1' s2.
Hypothesis moves_sound : MovesSound.

Definition has (d : list positive) (o : op) : bool := existsb (Pos.eqb (inv o)) d.
Fixpoint insert (i : positive) (d : list positive) : list positive :=
  match d with [] => [i] | j :: rest => if i <? j then i :: d else j :: insert i rest end.
Fixpoint remove (i : positive) (d : list positive) : list positive :=
  match d with [] => [] | j :: rest => if i =? j then remove i rest else j :: remove i rest end.
Fixpoint equal (d d' : list positive) : bool :=
  match d, d' with [], [] => true | i :: d, j :: d' => if i =? j then equal d d' else false | _, _ => false end.

Definition bucket (m : PM.t (list config)) (i : positive) : list config := match PM.find i m with Some b => b | None => [] end.
Definition table (cs : list config) : PM.t (list config) :=
  fold_left (fun m c => let i := hash c in PM.add i (c :: bucket m i) m) cs (PM.empty _).
Definition found (m : PM.t (list config)) (c : config) : bool :=
  existsb (fun c' => if equal (snd c) (snd c') then eqb (fst c) (fst c') else false) (bucket m (hash c)).
Definition optional (pending : list op) (i : positive) : bool :=
  existsb (fun o => if inv o =? i then match ret o with None => true | Some _ => false end else false) pending.
Fixpoint under (pending : list op) (less d : list positive) : bool :=
  match d with
  | [] => match less with [] => true | _ => false end
  | j :: rest =>
    match less with
    | i :: less' => if i =? j then under pending less' rest else if optional pending j then under pending less rest else false
    | [] => if optional pending j then under pending [] rest else false
    end
  end.
Definition covered (pending : list op) (m : PM.t (list config)) (c : config) : bool :=
  existsb (fun c' => if under pending (snd c') (snd c) then eqb (fst c) (fst c') else false) (bucket m (hash c)).

Definition earlier (x y : op) : bool := match ret x, ret y with _, None => true | Some t, Some t' => t <=? t' | None, Some _ => false end.
Definition best (left : list op) (x : op) : op :=
  fold_left (fun b y => if earlier y b then if same (what y) (known y) (what b) (known b) then y else b else b) left x.
Definition with_ (c : config) (o : op) (e : est) : config := (e, insert (inv o) (snd c)).

(** Operations that return, each with what is called before that. If that is too much, they are not watched. *)
Fixpoint called (most : nat) (time : positive) (calls : list op) : option (list op) :=
  match calls with
  | [] => Some []
  | o :: calls =>
    if inv o <=? time then match most with S most => match called most time calls with Some l => Some (o :: l) | None => None end | O => None end else Some []
  end.
Definition watch (pending calls : list op) : list (op * list op) :=
  collect (fun y => match ret y with Some t => match called 100 t calls with Some later => Some (y, later) | None => None end | None => None end) pending.
Definition doomed (watched : list (op * list op)) (left : list op) (c : config) : bool :=
  existsb (fun x => if has (snd c) (fst x) then false else hopeless (fst c) (fst x) (snd x) left) watched.

(** Whether [y] sees if the target has happened before, or had returned before it was called. *)
Definition sees (target y : op) : bool :=
  if moves (what target) (known target) (what y) (known y) then match ret y with Some t => t <? inv target | None => false end else true.
Definition left_ (pending : list op) (c : config) := filter (fun o => negb (has (snd c) o)) pending.
Definition besides (target : op) (left : list op) := filter (fun o => negb (inv o =? inv target)) left.
Definition after (c : config) (b : op) (good : config -> bool) : bool := forallb (fun e => good (with_ c b e)) (next (fst c) (what b) (known b)).
(** An operation that returns, and that nothing before its return can see, happens at once. *)
Definition eager (watched : list (op * list op)) (left : list op) (c : config) (good : config -> bool) : bool :=
  existsb (fun x => if has (snd c) (fst x) then false
    else if forallb (fun z => negb (sees (fst x) z)) (besides (fst x) left) then if forallb (fun z => negb (sees (fst x) z)) (snd x) then after c (fst x) good else false
    else false) watched.
Definition expanded (m pledged : PM.t (list config)) (watched : list (op * list op)) (pending : list op) (target : op) (c : config) : bool :=
  let left := left_ pending c in
  if doomed watched left c then true
  else if existsb (fun y => if pure (what y) (known y) then found m (with_ c y (fst c)) else false) left then true
  else if eager watched left c (covered pending m) then true
  else if forallb (sees target) (besides target left) then forallb (fun x => after c (best left x) (covered pending m)) left
  else if after c target (covered pending m) then covered pending pledged c else false.
Definition expanded_pledged (m pledged : PM.t (list config)) (watched : list (op * list op)) (pending : list op) (target : op) (c : config) : bool :=
  let others := besides target (left_ pending c) in
  if doomed watched (left_ pending c) c then true
  else if existsb (fun y => match ret y with Some _ => if pure (what y) (known y) then found m (with_ c y (fst c)) else false | None => false end) others then true
  else if forallb (fun y => if sees target y then hopeless (fst c) y [] others else true) others then true
  else
    let seeing := filter (sees target) others in
    let blind := filter (fun z => negb (sees target z)) others in
    if forallb (fun o => forallb (fun z => negb (sees o z)) blind) seeing then forallb (fun x => let b := best seeing x in after c b (covered pending m)) seeing
    else forallb (fun x => let b := best others x in after c b (covered pending (if sees target b then m else pledged))) others.
Definition closed (watched : list (op * list op)) (pending : list op) (target : op) (layer : list config) (cs : list config * list config) : bool :=
  let m := table (fst cs) in
  let pledged := table (snd cs) in
  if forallb (covered pending m) layer then
    if forallb (fun c => if has (snd c) target then true else expanded m pledged watched pending target c) (fst cs)
    then forallb (expanded_pledged m pledged watched pending target) (snd cs) else false
  else false.

Fixpoint take (time : positive) (calls pending : list op) : list op * list op :=
  match calls with [] => (pending, []) | o :: rest => if inv o <=? time then take time rest (o :: pending) else (pending, calls) end.
Definition survivors (target : op) (cs : list config) : list config :=
  fold_left (fun l c => if has (snd c) target then (fst c, remove (inv target) (snd c)) :: l else l) cs [].
Fixpoint go (calls pending : list op) (layer : list config) (targets : list (positive * positive)) : verdict :=
  match layer, targets with
  | [], _ => Accepted
  | _, [] => Rejected Survives 1
  | _, (time, i) :: targets =>
    let (pending, calls) := take time calls pending in
    match find (fun o => inv o =? i) pending with
    | None => Rejected NoCore i
    | Some target =>
      match ret target with
      | Some t =>
        if t <=? time then
          let watched := watch pending calls in
          let cs := search watched pending target layer in
          if closed watched pending target layer cs
          then go calls (filter (fun o => negb (inv o =? i)) pending) (survivors target (fst cs)) targets
          else Rejected NotClosed i
        else Rejected NoCore i
      | None => Rejected NoCore i
      end
    end
  end.

(** The targets are operations that return, with the times of their returns; they should be in order. *)
Definition check_core (init : est) (h : list op) (targets : list (positive * positive)) : verdict :=
  if sorted h then go h [] [(init, [])] targets else Rejected Unsorted 1.

Lemma has_spec d o : has d o = true <-> In (inv o) d.
Proof. unfold has. rewrite existsb_exists. split; [intros (i & ? & ->%Pos.eqb_eq); easy|intros; exists (inv o); split; auto; apply Pos.eqb_refl]. Qed.
Lemma in_insert i j d : In j (insert i d) <-> j = i \/ In j d.
Proof. induction d as [|x d IH]; simpl; [intuition|]. destruct (i <? x); simpl; rewrite ?IH; intuition. Qed.
Lemma in_remove i j d : In j (remove i d) <-> j <> i /\ In j d.
Proof.
  induction d as [|x d IH]; simpl; [intuition|]. destruct (Pos.eqb_spec i x) as [<-|N]; simpl; rewrite IH; intuition congruence.
Qed.
Lemma equal_spec d : forall d', equal d d' = true -> d = d'.
Proof. induction d as [|i d IH]; intros [|j d']; simpl; try easy. destruct (Pos.eqb_spec i j) as [->|]; [|easy]. intros H. f_equal. auto. Qed.

Lemma table_in cs i c : In c (bucket (table cs) i) -> In c cs.
Proof.
  unfold table. assert (G : forall m, In c (bucket (fold_left (fun m c => let i := hash c in PM.add i (c :: bucket m i) m) cs m) i) -> In c cs \/ In c (bucket m i)).
  { induction cs as [|x cs IH]; simpl; intros m H; [now right|]. apply IH in H as [H|H]; [tauto|].
    unfold bucket at 1 in H. destruct (Pos.eq_dec i (hash x)) as [->|N].
    - rewrite PM.gss in H. simpl in H. tauto.
    - rewrite PM.gso in H by easy. tauto. }
  intros H. destruct (G _ H) as [|H']; [easy|]. unfold bucket in H'. now rewrite PM.gempty in H'.
Qed.
Lemma under_spec pending : forall d less, under pending less d = true ->
  (forall i, In i less -> In i d) /\ (forall i, In i d -> In i less \/ optional pending i = true).
Proof.
  induction d as [|j d IH]; intros [|i less]; simpl; try easy.
  - destruct (optional pending j) eqn:O; [|easy]. intros H. destruct (IH _ H) as [_ H2]. split; [easy|]. intros k [<-|Hk]; [now right|]. destruct (H2 _ Hk); auto.
  - destruct (Pos.eqb_spec i j) as [->|N].
    + intros H. destruct (IH _ H) as [H1 H2]. split; intros k [<-|Hk]; auto. destruct (H2 _ Hk); auto.
    + destruct (optional pending j) eqn:O; [|easy]. intros H. destruct (IH _ H) as [H1 H2]. split; [intros k Hk; right; now apply H1|].
      intros k [<-|Hk]; [now right|]. destruct (H2 _ Hk); auto.
Qed.
Lemma covered_spec pending cs c : covered pending (table cs) c = true ->
  exists e d, In (e, d) cs /\ (forall s, abs (fst c) s -> abs e s) /\ under pending d (snd c) = true.
Proof.
  unfold covered. rewrite existsb_exists. intros ((e & d) & H & E). apply table_in in H. simpl in E.
  destruct (under pending d (snd c)) eqn:D; [|easy]. exists e, d. split; auto. split; auto. intros s. now apply eqb_sound.
Qed.
Lemma found_spec cs c : found (table cs) c = true -> exists e, In (e, snd c) cs /\ forall s, abs (fst c) s -> abs e s.
Proof.
  unfold found. rewrite existsb_exists. intros ((e & d) & H & E). apply table_in in H. simpl in E.
  destruct (equal (snd c) d) eqn:D; [|easy]. apply equal_spec in D. subst. exists e. split; auto. intros s. now apply eqb_sound.
Qed.

Lemma earlier_trans x y z : earlier x y = true -> earlier y z = true -> earlier x z = true.
Proof. unfold earlier. destruct (ret x), (ret y), (ret z); try easy. rewrite !Pos.leb_le. lia. Qed.
Lemma best_spec left x : (best left x = x \/ In (best left x) left) /\ earlier (best left x) x = true
  /\ what (best left x) = what x /\ known (best left x) = known x.
Proof.
  unfold best. revert x. induction left as [|y left IH]; simpl; intros x.
  - repeat split; auto. unfold earlier. destruct (ret x); auto. apply Pos.leb_refl.
  - destruct (earlier y x) eqn:E; [destruct (same (what y) (known y) (what x) (known x)) eqn:F|].
    + destruct (IH y) as (H & H1 & H2 & H3). apply same_sound in F as [F1 F2]. repeat split; try congruence; [|eapply earlier_trans; eauto].
      destruct H as [->|H]; auto.
    + destruct (IH x) as (H & ? & ? & ?). repeat split; auto. destruct H as [->|H]; auto.
    + destruct (IH x) as (H & ? & ? & ?). repeat split; auto. destruct H as [->|H]; auto.
Qed.

Section Refutation.
Variable h : list op.
Hypothesis h_sorted : sorted h = true.

(** What may still happen from a configuration. *)
Record admits (gone : list positive) (c : config) (w : list op) : Prop := {
  a_once : NoDup w;
  a_history : incl w h;
  a_left : forall x, In x w -> ~ In (inv x) (snd c) /\ ~ In (inv x) gone;
  a_time : in_time w;
  a_runs : exists s, abs (fst c) s /\ run step s w;
  a_returned : forall x, In x h -> ret x <> None -> In x w \/ In (inv x) (snd c) \/ In (inv x) gone }.

Lemma admits_under gone pending e d less w : (forall x, In x pending -> In x h) -> under pending less d = true ->
  admits gone (e, d) w -> admits gone (e, less) w.
Proof.
  intros Hp [U1 U2]%under_spec [D I L T R Q]. constructor; simpl in *; auto.
  - intros x Hx. destruct (L _ Hx). split; auto.
  - intros x Hx N. destruct (Q _ Hx N) as [|[H|]]; auto. destruct (U2 _ H) as [|O]; auto.
    unfold optional in O. apply existsb_exists in O as (y & Hy & E). destruct (Pos.eqb_spec (inv y) (inv x)) as [X|]; [|easy].
    assert (y = x) by (apply (sorted_unique h); auto). subst. now destruct (ret x).
Qed.

Lemma admits_covered gone pending cs c w : (forall x, In x pending -> In x h) -> covered pending (table cs) c = true -> admits gone c w ->
  exists c', In c' cs /\ admits gone c' w.
Proof.
  intros Hp (e & d & He & Ae & U)%covered_spec [D I L T (s & As & R) Q]. exists (e, d). split; auto. destruct c as [e0 d0].
  apply (admits_under gone pending e d0 d); auto. constructor; auto. exists s. auto.
Qed.

Lemma run_without y s w : pure (what y) (known y) = true -> (forall x, In x w -> inv x = inv y -> x = y) -> run step s w ->
  run step s (filter (fun x => negb (inv x =? inv y)) w).
Proof.
  intros P U R. induction R as [s|s o s' os E R IH]; simpl; [constructor|].
  assert (IH' := IH (fun x Hx => U x (or_intror Hx))).
  destruct (Pos.eqb_spec (inv o) (inv y)) as [D|D]; simpl; [|econstructor; eauto].
  apply U in D; [subst|now left]. apply pure_sound in E; auto. now subst.
Qed.
Lemma in_time_filter f (w : list op) : in_time w -> in_time (filter f w).
Proof. induction w as [|x w IH]; simpl; [easy|]. intros [H ?]. destruct (f x); simpl; auto. split; auto. intros y (? & _)%filter_In. auto. Qed.

Lemma pure_happens gone c y w e : In y h -> ~ In (inv y) gone -> pure (what y) (known y) = true -> (forall s, abs (fst c) s -> abs e s) ->
  admits gone c w -> admits gone (e, insert (inv y) (snd c)) (filter (fun x => negb (inv x =? inv y)) w).
Proof.
  intros Hy G P A [D I L T (s & As & R) Q]. constructor; simpl.
  - now apply NoDup_filter.
  - intros x (? & _)%filter_In. auto.
  - intros x (Hx & N)%filter_In. rewrite in_insert. destruct (L _ Hx). destruct (Pos.eqb_spec (inv x) (inv y)); [easy|]. tauto.
  - now apply in_time_filter.
  - exists s. split; auto. apply run_without; auto. intros x Hx E. apply (sorted_unique h); auto.
  - intros x Hx N. rewrite in_insert. destruct (Pos.eqb_spec (inv x) (inv y)) as [|E]; [tauto|].
    destruct (Q _ Hx N) as [Hw|]; [|tauto]. left. apply filter_In. split; auto. now apply Pos.eqb_neq in E as ->.
Qed.

Definition swap (b y x : op) : op := if inv x =? inv b then y else x.

Lemma first_happens gone c y b w e s s1 : In y h -> In b h -> ~ In (inv b) gone -> ~ In (inv b) (snd c) ->
  earlier b y = true -> what b = what y -> known b = known y ->
  abs (fst c) s -> effect step y s s1 -> run step s1 w -> abs e s1 ->
  NoDup (y :: w) -> incl w h -> (forall x, In x (y :: w) -> ~ In (inv x) (snd c) /\ ~ In (inv x) gone) -> in_time (y :: w) ->
  (forall x, In x h -> ret x <> None -> In x (y :: w) \/ In (inv x) (snd c) \/ In (inv x) gone) ->
  admits gone (e, insert (inv b) (snd c)) (map (swap b y) w).
Proof.
  intros Hy Hb Gb Cb Eb Wb Kb As Ey R Ae ND I L T Q.
  inversion ND as [|? ? Ny Dw]; subst.
  assert (U : forall x, In x w -> inv x = inv b -> x = b) by (intros; apply (sorted_unique h); auto).
  assert (SW : forall x l, incl l w -> In x (map (swap b y) l) -> (x = y /\ In b l) \/ (In x l /\ inv x <> inv b)).
  { intros x l Hl (z & E & Hz)%in_map_iff. unfold swap in E. destruct (Pos.eqb_spec (inv z) (inv b)) as [D|D].
    - apply U in D; [|auto]. subst. auto.
    - subst. auto. }
  constructor; simpl.
  - assert (G : forall l, incl l w -> NoDup l -> NoDup (map (swap b y) l)).
    { induction l as [|x l IH]; intros Hl Dl; simpl; [constructor|]. inversion Dl; subst. constructor; [|apply IH; auto; intros ? ?; apply Hl; now right].
      intros Hx. apply SW in Hx; [|intros ? ?; apply Hl; now right]. assert (Hxw : In x w) by (apply Hl; now left).
      unfold swap in Hx. destruct (Pos.eqb_spec (inv x) (inv b)) as [D|D].
      - apply U in D; auto. subst x. destruct Hx as [[_ ?]|[Hx _]]; [easy|]. apply Ny, Hl. now right.
      - destruct Hx as [[-> _]|[? _]]; easy. }
    apply G; auto. apply incl_refl.
  - intros x Hx. apply SW in Hx as [[-> _]|[? _]]; auto. apply incl_refl.
  - intros x Hx. apply SW in Hx; [|apply incl_refl]. rewrite in_insert.
    destruct Hx as [[-> Hb']|[Hx N]].
    + destruct (L y); [now left|]. split; auto. intros [E|]; [|easy]. apply Ny. replace y with b; auto. apply (sorted_unique h); auto.
    + destruct (L x); [now right|]. tauto.
  - destruct T as [Ty T]. assert (G : forall l, incl l w -> NoDup l -> in_time l -> in_time (map (swap b y) l)).
    { induction l as [|x l IH]; simpl; [easy|]. intros Hl Dl [Hx Tl]. inversion Dl; subst.
      assert (Hl' : incl l w) by (intros ? ?; apply Hl; now right). assert (Hxw : In x w) by (apply Hl; now left).
      split; auto. intros z Hz. apply SW in Hz; auto. unfold swap. destruct (Pos.eqb_spec (inv x) (inv b)) as [D|D].
      - apply U in D; auto. subst x. destruct Hz as [[-> ?]|[Hz _]]; [easy|]. apply Ty; auto.
      - destruct Hz as [[-> Hz]|[Hz _]]; [|now apply Hx].
        intros (t & Rt & Lt). unfold earlier in Eb. rewrite Rt in Eb. destruct (ret b) as [t'|] eqn:Rb; [|easy]. apply Pos.leb_le in Eb.
        apply (Hx _ Hz). exists t'. split; auto. lia. }
    apply G; auto. apply incl_refl.
  - exists s1. split; auto. clear - R Wb Kb U. induction R as [|s1 x s2 w E R IH]; simpl; [constructor|].
    apply run_cons with (s' := s2); [|apply IH; intros; apply U; auto; now right]. unfold swap. destruct (Pos.eqb_spec (inv x) (inv b)) as [D|D]; auto.
    apply U in D; [|now left]. unfold effect in *. rewrite D, Wb, Kb in E. exact E.
  - intros x Hx N. rewrite in_insert. destruct (Pos.eqb_spec (inv x) (inv b)) as [|D]; [tauto|].
    destruct (Q _ Hx N) as [[->|Hw]|[|]]; auto.
    + left. apply in_map_iff. exists b. unfold swap. rewrite Pos.eqb_refl. split; auto.
      unfold earlier in Eb. destruct (ret x) eqn:Rx; [|easy]. destruct (ret b) eqn:Rb; [|easy].
      destruct (Q b Hb) as [[->|]|[|]]; auto; try easy. now rewrite Rb.
    + left. apply in_map_iff. exists x. unfold swap. apply Pos.eqb_neq in D. rewrite D. auto.
Qed.

Lemma left_less pending c y e : In y (left_ pending c) -> (length (left_ pending (e, insert (inv y) (snd c))) < length (left_ pending c))%nat.
Proof.
  unfold left_. intros H.
  assert (G : forall p, (length (filter (fun o => negb (has (insert (inv y) (snd c)) o)) p) <= length (filter (fun o => negb (has (snd c) o)) p))%nat
    /\ (In y (filter (fun o => negb (has (snd c) o)) p) -> (length (filter (fun o => negb (has (insert (inv y) (snd c)) o)) p) < length (filter (fun o => negb (has (snd c) o)) p))%nat)).
  { induction p as [|x p [IH1 IH2]]; simpl; [split; [lia|easy]|].
    destruct (has (snd c) x) eqn:E; simpl.
    - assert (E' : has (insert (inv y) (snd c)) x = true) by (apply has_spec in E; apply has_spec, in_insert; auto). rewrite E'. simpl. auto.
    - destruct (has (insert (inv y) (snd c)) x) eqn:E'; simpl; [split; lia|]. split; [lia|]. intros [->|Hy]; [|specialize (IH2 Hy); lia].
      assert (has (insert (inv y) (snd c)) y = true) by (apply has_spec, in_insert; auto). congruence. }
  apply G. exact H.
Qed.

Lemma filter_shorter {A} (f : A -> bool) l : (length (filter f l) <= length l)%nat.
Proof. induction l as [|x l IH]; simpl; auto. destruct (f x); simpl; lia. Qed.

Lemma collect_watched {A B} (f : A -> option B) l : collect f l = flat_map (fun x => match f x with Some y => [y] | None => [] end) l.
Proof. apply (collect_spec f (flat_map (fun x => match f x with Some y => [y] | None => [] end))); auto. intros x l'. simpl. now destruct (f x). Qed.
Lemma called_spec x t : forall most calls l last, called most t calls = Some l -> ascending last calls = true -> In x calls -> inv x <= t -> In x l.
Proof.
  induction most as [|most IH]; intros [|o calls] l last C A Hx L; simpl in C; try easy; simpl in A; destruct (last <? inv o); try easy.
  - destruct (Pos.leb_spec (inv o) t); [easy|]. destruct Hx as [<-|Hx]; [lia|]. pose proof (ascending_later _ _ A _ Hx). lia.
  - destruct (Pos.leb_spec (inv o) t).
    + destruct (called most t calls) as [l'|] eqn:E; [|easy]. injection C as <-. destruct Hx as [<-|Hx]; [now left|]. right. eapply IH; eauto.
    + destruct Hx as [<-|Hx]; [lia|]. pose proof (ascending_later _ _ A _ Hx). lia.
Qed.
Lemma run_begins s (a b : list op) : run step s (a ++ b) -> run step s a.
Proof. revert s; induction a; simpl; intros s R; [constructor|inversion R; subst; econstructor; eauto]. Qed.
Lemma watched_before gone c w pending calls last y later : (forall x, In x pending -> In x h /\ ~ In (inv x) gone) ->
  (forall x, In x h -> ~ In (inv x) gone -> In x pending \/ In x calls) -> ascending last calls = true ->
  In (y, later) (watch pending calls) -> has (snd c) y = false -> admits gone c w ->
  exists a r, w = a ++ y :: r /\ In y (left_ pending c) /\ forall x, In x a -> In x later \/ In x (besides y (left_ pending c)).
Proof.
  intros Hp Hq Ha Hy Hh [N I L T _ Q]. unfold watch in Hy. rewrite collect_watched in Hy. apply in_flat_map in Hy as (y' & Hy & E).
  destruct (ret y') as [t|] eqn:Rt; [|easy]. destruct (called 100 t calls) as [l|] eqn:C; [|easy]. destruct E as [E|[]]. injection E as -> ->. destruct (Hp _ Hy) as [Hyh Hyg].
  assert (Hyw : In y w). { destruct (Q y) as [|[X|]]; auto; try easy; [now rewrite Rt|]. apply has_spec in X. congruence. }
  apply in_split in Hyw as (a & r & ->). exists a, r. split; auto. split; [apply filter_In; now rewrite Hh|]. apply NoDup_remove in N as [N Ny].
  intros x Hx. assert (Hxh : In x h) by (apply I, in_or_app; auto). destruct (L x) as [Ld Lg]; [apply in_or_app; auto|].
  destruct (Hq x Hxh Lg) as [Hxp|Hxc].
  - right. apply filter_In. split; [apply filter_In; split; auto; destruct (has (snd c) x) eqn:X; auto; now apply has_spec in X|].
    destruct (Pos.eqb_spec (inv x) (inv y)) as [E|]; auto. apply (sorted_unique h h_sorted x y Hxh Hyh) in E. subst. destruct Ny. apply in_or_app. auto.
  - left. eapply called_spec; eauto. destruct (Pos.leb_spec (inv x) t); auto. exfalso.
    clear - T Hx Rt H. induction a as [|z a IH]; simpl in *; [easy|]. destruct T as [Tz T]. destruct Hx as [->|Hx]; [|auto].
    apply (Tz y); [apply in_or_app; simpl; auto|]. now exists t.
Qed.
Lemma NoDup_begins (a b : list op) : NoDup (a ++ b) -> NoDup a.
Proof. induction a; simpl; intros N; constructor; inversion N; subst; auto. intros X. apply H1, in_or_app; auto. Qed.
Lemma doomed_sound gone c w pending calls last : (forall x, In x pending -> In x h /\ ~ In (inv x) gone) ->
  (forall x, In x h -> ~ In (inv x) gone -> In x pending \/ In x calls) -> ascending last calls = true ->
  doomed (watch pending calls) (left_ pending c) c = true -> ~ admits gone c w.
Proof.
  intros Hp Hq Ha D A. unfold doomed in D. apply existsb_exists in D as ((y & later) & Hy & D). simpl in D. destruct (has (snd c) y) eqn:Hh; [easy|].
  destruct (watched_before gone c w pending calls last y later Hp Hq Ha Hy Hh A) as (a & r & -> & _ & B). destruct A as [N I L T (s & As & R) Q].
  apply (hopeless_sound (fst c) y later (left_ pending c) s a D As).
  - eapply NoDup_begins; eauto.
  - intros x [Hx|[Hx X]%filter_In]%B; auto. right. split; auto. apply negb_true_iff, Pos.eqb_neq in X. exact X.
  - change (y :: r) with ([y] ++ r) in R. rewrite app_assoc in R. eapply run_begins; eauto.
Qed.

(** ** What sees the target, and what does not *)
Section Target.
Variables (gone : list positive) (pending calls : list op) (last time t : positive) (target : op).
Hypothesis is_pending : forall x, In x pending -> In x h /\ ~ In (inv x) gone.
Hypothesis all_pending : forall x, In x h -> inv x <= time -> ~ In (inv x) gone -> In x pending.
Hypothesis others_come : forall x, In x h -> ~ In (inv x) gone -> In x pending \/ In x calls.
Hypothesis calls_sorted : ascending last calls = true.
Hypothesis target_pending : In target pending.
Hypothesis target_returns : ret target = Some t.
Hypothesis by_now : t <= time.

Lemma target_left c w : admits gone c w -> has (snd c) target = false -> In target w.
Proof.
  intros A H. destruct (is_pending _ target_pending) as [Hh Hg]. destruct (a_returned _ _ _ A target) as [|[X|]]; auto; try easy; [now rewrite target_returns|].
  apply has_spec in X. congruence.
Qed.
(** What comes before the target is pending. *)
Lemma before_target c a r x : admits gone c (a ++ target :: r) -> In x a -> In x (besides target (left_ pending c)).
Proof.
  intros [N I L T _ _] Hx. assert (Hw : In x (a ++ target :: r)) by (apply in_or_app; auto). destruct (L _ Hw) as [Ld Lg]. assert (Hh := I _ Hw).
  apply filter_In. split.
  - apply filter_In. split; [|destruct (has (snd c) x) eqn:X; auto; now apply has_spec in X]. apply all_pending; auto.
    destruct (Pos.ltb_spec t (inv x)); [|lia]. exfalso. clear - T Hx H target_returns. induction a as [|z a IH]; simpl in *; [easy|].
    destruct T as [Tz T]. destruct Hx as [->|Hx]; [|auto]. apply (Tz target); [apply in_or_app; simpl; auto|]. now exists t.
  - destruct (Pos.eqb_spec (inv x) (inv target)) as [E|]; auto. apply (sorted_unique h h_sorted) in E; auto; [|apply I, in_or_app; simpl; auto].
    subst. apply NoDup_remove_2 in N. destruct N. apply in_or_app. auto.
Qed.

Definition pledge (w : list op) : Prop := exists a y r, w = a ++ y :: r /\ (forall x, In x a -> sees target x = false) /\ sees target y = true /\ In target r.
Lemma pledged_or_not w : incl w h -> In target w -> (exists a r, w = a ++ target :: r /\ forall y, In y a -> sees target y = false) \/ pledge w.
Proof.
  intros I. assert (Ht : In target h) by now apply is_pending. induction w as [|y w IH]; intros H; [easy|].
  destruct (Pos.eq_dec (inv y) (inv target)) as [E|E].
  - apply (sorted_unique h h_sorted) in E; auto; [|apply I; now left]. subst. left. exists [], w. easy.
  - destruct H as [->|H]; [easy|]. destruct (sees target y) eqn:S; [right; now exists [], y, w|].
    destruct IH as [(a & r & -> & F)|(a & z & r & -> & F)]; auto; [intros x Hx; apply I; now right|left; exists (y :: a), r|right; exists (y :: a), z, r; split; auto; split; [|easy]].
    2: destruct F as [F _].
    1: split; auto. all: intros x [<-|Hx]; auto.
Qed.
Lemma moved_first x a r s : (forall y, In y a -> sees x y = false) -> run step s (a ++ x :: r) -> run step s (x :: a ++ r).
Proof.
  revert s. induction a as [|y a IH]; simpl; intros s F R; auto. inversion R as [|? ? s1 ? Ey R1]; subst.
  apply IH in R1; auto. inversion R1 as [|? ? s2 ? Et R2]; subst. specialize (F y (or_introl eq_refl)). unfold sees in F.
  destruct (moves _ _ _ _) eqn:M; [|easy]. destruct (moves_sound _ _ _ _ _ _ _ M Ey Et) as (s1' & Et' & Ey'). econstructor; [exact Et'|]. econstructor; [exact Ey'|auto].
Qed.
Lemma admits_first first c a r : (forall y, In y a -> sees first y = false) -> admits gone c (a ++ first :: r) -> admits gone c (first :: a ++ r).
Proof.
  intros F [N I L T (s & As & R) Q].
  assert (P : forall x, In x (first :: a ++ r) <-> In x (a ++ first :: r)) by (intros x; simpl; rewrite !in_app_iff; simpl; tauto).
  constructor.
  - apply NoDup_remove in N as [N ?]. now constructor.
  - intros x Hx. apply I, P, Hx.
  - intros x Hx. apply L, P, Hx.
  - clear - F T. induction a as [|y a IH]; simpl in *; auto. destruct T as [Ty T]. destruct (IH (fun x Hx => F x (or_intror Hx)) T) as [Tt Ta]. split.
    + intros x [<-|Hx]; auto. intros (t & Rt & Lt). specialize (F y (or_introl eq_refl)). unfold sees in F. destruct (moves _ _ _ _); [|easy].
      rewrite Rt in F. apply Pos.ltb_lt in Lt. congruence.
    + split; auto. intros x Hx. apply Ty. rewrite in_app_iff in *. simpl. tauto.
  - exists s. split; auto. now apply moved_first.
  - intros x Hx X. rewrite P. auto.
Qed.
Lemma sees_best y b : earlier b y = true -> what b = what y -> known b = known y -> sees target y = true -> sees target b = true.
Proof.
  unfold sees, earlier. intros E -> ->. destruct (moves _ _ _ _); auto. destruct (ret y) as [u|]; [|easy]. destruct (ret b) as [v|]; [|easy].
  apply Pos.leb_le in E. intros H%Pos.ltb_lt. apply Pos.ltb_lt. lia.
Qed.
(** One operation of those that are left happens, or another one that means the same. *)
Lemma one_happens c y w left (good : op -> config -> bool) : admits gone c (y :: w) -> In y left -> incl left (left_ pending c) ->
  (forall x, In x left -> let b := best left x in after c b (good b) = true) ->
  let b := best left y in In b left /\ earlier b y = true /\ what b = what y /\ known b = known y /\
  exists e, good b (with_ c b e) = true /\ admits gone (with_ c b e) (map (swap b y) w).
Proof.
  intros [D I L T (s & As & R) Q] Hy Hl G b. inversion R as [|? ? s1 ? Ey Ry]; subst.
  destruct (best_spec left y) as (Bi & Be & Bw & Bk). fold b in Bi, Be, Bw, Bk. assert (Hb : In b left) by (destruct Bi as [->|]; auto).
  repeat split; auto. specialize (G _ Hy). cbv zeta in G. fold b in G. unfold after in G. rewrite forallb_forall in G.
  assert (Ey' := Ey). unfold effect in Ey'. rewrite <- Bw, <- Bk in Ey'. destruct (next_complete _ _ _ _ _ As Ey') as (e & Hn & A).
  exists e. split; [now apply G|]. assert (Hb' := Hl _ Hb). apply filter_In in Hb' as [Hbp Hbd]. destruct (is_pending _ Hbp).
  apply (first_happens gone c y b w e s s1); auto.
  - apply I. now left.
  - intros X. apply negb_true_iff in Hbd. apply has_spec in X. congruence.
  - intros x Hx. apply I. now right.
Qed.

Lemma itself_happens c y w good : admits gone c (y :: w) -> In y (left_ pending c) -> after c y good = true ->
  exists e w', good (with_ c y e) = true /\ admits gone (with_ c y e) w' /\ length w' = length w.
Proof.
  intros A Hy G. assert (B : best [y] y = y) by (unfold best; simpl; destruct (earlier y y); auto; now destruct (same (what y) _ _ _)).
  assert (O := one_happens c y w [y] (fun _ => good) A (or_introl eq_refl)). cbv zeta in O. rewrite B in O. destruct O as (_ & _ & _ & _ & e & G' & A').
  - now intros x [<-|[]].
  - intros x [<-|[]]. now rewrite B.
  - exists e, (map (swap y y) w). now rewrite map_length.
Qed.

Lemma closed_reaches layer cs : closed (watch pending calls) pending target layer cs = true -> forall n c w, admits gone c w ->
  (In c (fst cs) /\ length w * (2 * length pending + 2) + length pending + 1 + length (left_ pending c) <= n
    \/ In c (snd cs) /\ pledge w /\ length w * (2 * length pending + 2) + length (left_ pending c) <= n)%nat ->
  exists c' w', In c' (fst cs) /\ In (inv target) (snd c') /\ admits gone c' w'.
Proof.
  intros C. unfold closed in C. destruct (forallb _ layer); [|easy]. match type of C with (if ?ok then _ else _) = _ => destruct ok eqn:C1; [|easy] end. rewrite forallb_forall in C1, C.
  set (size := (2 * length pending + 2)%nat). assert (Short : forall c, (length (left_ pending c) <= length pending)%nat) by (intros; apply filter_shorter).
  assert (Fewer : forall (w : list op) f, (length (filter f w) * size <= length w * size)%nat) by (intros; apply Nat.mul_le_mono_r, filter_shorter).
  induction n as [n IH] using lt_wf_ind. intros c w A [(Hc & Ln)|(Hc & Pl & Ln)].
  - specialize (C1 c Hc). destruct (has (snd c) target) eqn:Hh; [apply has_spec in Hh; now exists c, w|].
    unfold expanded in C1. destruct (doomed _ _ c) eqn:Dm; [now destruct (doomed_sound gone c w pending calls last is_pending others_come calls_sorted Dm)|].
    destruct (existsb _ (left_ pending c)) eqn:E.
    + apply existsb_exists in E as (y & Hy & E). destruct (pure (what y) (known y)) eqn:P; [|easy].
      apply found_spec in E as (e & He & Ae). simpl in He, Ae. assert (Hy' := Hy). apply filter_In in Hy' as [Hy' _]. destruct (is_pending _ Hy').
      pose proof (left_less _ _ _ e Hy). specialize (Fewer w (fun x => negb (inv x =? inv y))).
      eapply IH; [|eapply pure_happens; eauto|left; split; [exact He|apply le_n]]. simpl. lia.
    + destruct (eager _ _ c _) eqn:Eg.
      { unfold eager in Eg. apply existsb_exists in Eg as ((y & later) & Hy & Eg). simpl in Eg. destruct (has (snd c) y) eqn:Hhy; [easy|].
        destruct (forallb _ (besides y _)) eqn:F1; [|easy]. destruct (forallb _ later) eqn:F2; [|easy]. rewrite forallb_forall in F1, F2.
        destruct (watched_before gone c w pending calls last y later is_pending others_come calls_sorted Hy Hhy A) as (a & r & -> & Hl & B).
        apply admits_first in A; [|intros x [Hx|Hx]%B; apply negb_true_iff; auto].
        destruct (itself_happens c y (a ++ r) _ A Hl Eg) as (e & w' & G & A' & Lw).
        destruct (admits_covered gone pending _ _ _ (fun x Hx => proj1 (is_pending x Hx)) G A') as (c' & He & U).
        eapply IH; [|exact U|left; split; [exact He|apply le_n]]. rewrite Lw, app_length in *. simpl in Ln. specialize (Short c').
        rewrite Nat.mul_add_distr_r in *. simpl in Ln. lia. }
      assert (Tw := target_left _ _ A Hh). destruct (forallb (sees target) _) eqn:F.
      * rewrite forallb_forall in C1. destruct w as [|y w]; [easy|].
        assert (Hy : In y (left_ pending c)).
        { apply in_split in Tw as (a & r & E'). destruct a as [|z a]; injection E' as -> ->.
          - apply filter_In. now rewrite Hh.
          - pose proof (before_target c (z :: a) r z A (or_introl eq_refl)) as X. apply filter_In in X. tauto. }
        destruct (one_happens c y w (left_ pending c) (fun _ => covered pending (table (fst cs))) A Hy (incl_refl _) C1) as (_ & _ & _ & _ & e & G & A').
        destruct (admits_covered gone pending _ _ _ (fun x Hx => proj1 (is_pending x Hx)) G A') as (c' & He & U).
        eapply IH; [|exact U|left; split; [exact He|apply le_n]]. rewrite map_length. cbn [length] in Ln. rewrite Nat.mul_succ_l in Ln. specialize (Short c'). lia.
      * clear F. destruct (after c target (covered pending (table (fst cs)))) eqn:Af; [|easy]. destruct (pledged_or_not w (a_history _ _ _ A) Tw) as [(a & r & -> & F)|Pl].
        -- apply admits_first in A; auto. assert (Hl : In target (left_ pending c)) by (apply filter_In; now rewrite Hh).
           destruct (itself_happens c target (a ++ r) _ A Hl Af) as (e & w' & G & A' & Lw).
           destruct (admits_covered gone pending _ _ _ (fun x Hx => proj1 (is_pending x Hx)) G A') as (c' & He & U).
           eapply IH; [|exact U|left; split; [exact He|apply le_n]]. rewrite Lw, app_length in *. simpl in Ln. specialize (Short c').
           rewrite Nat.mul_add_distr_r in *. simpl in Ln. lia.
        -- destruct (admits_covered gone pending _ _ _ (fun x Hx => proj1 (is_pending x Hx)) C1 A) as (c' & He & U).
           eapply IH; [|exact U|right; split; [exact He|split; [exact Pl|apply le_n]]]. specialize (Short c'). lia.
  - specialize (C c Hc). unfold expanded_pledged in C.
    destruct (doomed _ _ c) eqn:Dm; [now destruct (doomed_sound gone c w pending calls last is_pending others_come calls_sorted Dm)|]. set (others := besides target (left_ pending c)) in *.
    assert (Io : incl others (left_ pending c)) by (intros x [Hx _]%filter_In; auto).
    destruct Pl as (a & o & r & -> & Ba & So & Tr). apply in_split in Tr as (r1 & r2 & ->).
    assert (Before : forall x, In x (a ++ o :: r1) -> In x others).
    { intros x Hx. apply (before_target c (a ++ o :: r1) r2); auto. now rewrite <- app_assoc. }
    destruct (existsb _ others) eqn:E.
    + apply existsb_exists in E as (y & Hy & E). destruct (ret y) as [u|] eqn:Ry; [|easy]. destruct (pure (what y) (known y)) eqn:P; [|easy].
      apply found_spec in E as (e & He & Ae). simpl in He, Ae. assert (Hy' := Io _ Hy). apply filter_In in Hy' as [Hyp Hyd]. destruct (is_pending _ Hyp) as [Hyh Hyg].
      set (w := a ++ o :: r1 ++ target :: r2) in *.
      assert (Yw : In y w). { destruct (a_returned _ _ _ A y) as [|[X|]]; auto; try easy; [now rewrite Ry|]. apply has_spec in X. now rewrite X in Hyd. }
      assert (Less : (length (filter (fun x => negb (Pos.eqb (inv x) (inv y))) w) < length w)%nat).
      { apply in_split in Yw as (w1 & w2 & ->). rewrite filter_app. simpl. rewrite Pos.eqb_refl. simpl. rewrite !app_length. simpl.
        pose proof (filter_shorter (fun x => negb (inv x =? inv y)) w1). pose proof (filter_shorter (fun x => negb (inv x =? inv y)) w2). lia. }
      apply (Nat.mul_le_mono_r (S _) _ size) in Less. simpl in Less.
      eapply IH; [|eapply pure_happens; eauto|left; split; [exact He|apply le_n]]. specialize (Short (e, insert (inv y) (snd c))). simpl. lia.
    + destruct (forallb _ others) eqn:Hp.
      * exfalso. rewrite forallb_forall in Hp. specialize (Hp o). rewrite So in Hp. destruct A as [N I L T (s & As & R) Q].
        apply (hopeless_sound (fst c) o [] others s a); auto.
        -- apply Hp, Before, in_or_app. simpl. auto.
        -- eapply NoDup_begins; eauto.
        -- intros x Hx. right. split; [apply Before, in_or_app; auto|]. intros X.
           apply (sorted_unique h h_sorted) in X; [|apply I, in_or_app; auto|apply I, in_or_app; simpl; auto]. subst.
           apply NoDup_remove_2 in N. destruct N. apply in_or_app. auto.
        -- change (o :: r1 ++ target :: r2) with ([o] ++ r1 ++ target :: r2) in R. rewrite app_assoc in R. eapply run_begins; eauto.
      * clear Hp. set (seeing := filter (sees target) others) in *. set (blind := filter _ others) in C.
        assert (Blind : forall x, In x a -> In x blind) by (intros x Hx; apply filter_In; split; [apply Before, in_or_app; auto|now rewrite Ba]).
        destruct (forallb _ seeing) eqn:Fs.
        { rewrite forallb_forall in Fs, C. assert (Ho : In o seeing) by (apply filter_In; split; auto; apply Before, in_or_app; simpl; auto).
          specialize (Fs _ Ho). rewrite forallb_forall in Fs. apply admits_first in A; [|intros x Hx; apply negb_true_iff, Fs, Blind, Hx].
          destruct (one_happens c o (a ++ r1 ++ target :: r2) seeing (fun _ => covered pending (table (fst cs))) A Ho) as (_ & _ & _ & _ & e & G & A'); auto.
          { intros x [Hx _]%filter_In. auto. }
          destruct (admits_covered gone pending _ _ _ (fun x Hx => proj1 (is_pending x Hx)) G A') as (c' & He & U).
          assert (Lw : length (a ++ o :: r1 ++ target :: r2) = S (length (a ++ r1 ++ target :: r2))) by (rewrite !app_length; simpl; rewrite !app_length; simpl; lia).
          rewrite Lw, Nat.mul_succ_l in Ln. specialize (Short c').
          eapply IH; [|exact U|left; split; [exact He|apply le_n]]. rewrite map_length. lia. }
        clear Fs Blind. rewrite forallb_forall in C.
        assert (W : exists y w, a ++ o :: r1 ++ target :: r2 = y :: w /\ In y others /\ (sees target y = true \/ sees target y = false /\ pledge w)).
        { destruct a as [|y a].
          - exists o, (r1 ++ target :: r2). split; auto. split; auto. apply Before. now left.
          - exists y, (a ++ o :: r1 ++ target :: r2). split; auto. split; [apply Before; now left|]. right. split; [apply Ba; now left|]. exists a, o, (r1 ++ target :: r2). split; auto.
            split; [intros x Hx; apply Ba; now right|]. split; auto. apply in_or_app. simpl. auto. }
        destruct W as (y & w & W & Hy & Pl). rewrite W in *. clear W.
        destruct (one_happens c y w others (fun b => covered pending (if sees target b then table (fst cs) else table (snd cs))) A Hy Io C) as (Hb & Be & Bw & Bk & e & G & A').
        set (b := best others y) in *. assert (Hbt : inv b <> inv target). { apply filter_In in Hb as [_ X]. intros X'. now rewrite X', Pos.eqb_refl in X. }
        replace (if sees target b then table (fst cs) else table (snd cs)) with (table (if sees target b then fst cs else snd cs)) in G by now destruct (sees target b).
        destruct (admits_covered gone pending _ _ _ (fun x Hx => proj1 (is_pending x Hx)) G A') as (c' & He & U).
        cbn [length] in Ln. rewrite Nat.mul_succ_l in Ln. specialize (Short c').
        destruct (sees target b) eqn:Sb.
        -- eapply IH; [|exact U|left; split; [exact He|apply le_n]]. rewrite map_length. lia.
        -- eapply IH; [|exact U|right; split; [exact He|split; [|apply le_n]]]; [rewrite map_length; lia|].
           destruct Pl as [Sy|(Sy & a' & z & r' & -> & Ba' & Sz & Tz)]; [rewrite (sees_best y b) in Sb; easy|].
           exists (map (swap b y) a'), z, (map (swap b y) r'). rewrite map_app. simpl.
           replace (swap b y z) with z; [split; auto; split; [|split; auto; apply in_map_iff; exists target; split; auto]|].
           ++ intros x (x' & <- & Hx')%in_map_iff. unfold swap. destruct (Pos.eqb (inv x') (inv b)); auto.
           ++ unfold swap. apply not_eq_sym, Pos.eqb_neq in Hbt. now rewrite Hbt.
           ++ unfold swap. destruct (Pos.eqb_spec (inv z) (inv b)) as [X|]; auto. exfalso.
              apply (sorted_unique h h_sorted) in X; [subst; congruence|apply (a_history _ _ _ A); right; apply in_or_app; simpl; auto|].
              apply Io, filter_In in Hb as [X' _]. now apply is_pending.
Qed.
End Target.

Lemma take_spec time : forall calls pending p q last, take time calls pending = (p, q) -> ascending last calls = true ->
  (exists l, ascending l q = true) /\ (forall x, In x p <-> In x pending \/ In x calls /\ inv x <= time) /\ (forall x, In x q <-> In x calls /\ time < inv x).
Proof.
  induction calls as [|o calls IH]; simpl; intros pending p q last E A.
  - injection E as <- <-. split; [now exists last|]. split; intros; simpl; tauto.
  - destruct (last <? inv o) eqn:L; [|easy]. destruct (inv o <=? time) eqn:B.
    + apply Pos.leb_le in B. destruct (IH _ _ _ _ E A) as (X & Y & Z). split; auto. split; intros x; [rewrite Y|rewrite Z]; simpl.
      * split; intros H; intuition; subst; auto.
      * split; intros H; intuition; subst. lia.
    + apply Pos.leb_gt in B. injection E as <- <-. assert (forall x, o = x \/ In x calls -> time < inv x).
      { intros x [<-|Hx]; auto. pose proof (ascending_later _ _ A _ Hx). lia. }
      split; [exists last; simpl; now rewrite L|]. split; intros x; [|simpl; intuition].
      split; [tauto|]. intros [|[Hx ?]]; auto. specialize (H _ Hx). lia.
Qed.

Lemma survivors_in target cs c : In c cs -> In (inv target) (snd c) -> In (fst c, remove (inv target) (snd c)) (survivors target cs).
Proof.
  unfold survivors. intros Hc Hi. assert (G : forall l, In c cs \/ In (fst c, remove (inv target) (snd c)) l ->
    In (fst c, remove (inv target) (snd c)) (fold_left (fun l c => if has (snd c) target then (fst c, remove (inv target) (snd c)) :: l else l) cs l)).
  { clear Hc. induction cs as [|x cs IH]; simpl; intros l H; [tauto|]. apply IH.
    destruct H as [[->|H]|H]; [|tauto|].
    - right. apply has_spec in Hi. rewrite Hi. now left.
    - right. destruct (has (snd x) target); [now right|easy]. }
  apply G. auto.
Qed.

Lemma go_sound targets : forall calls pending layer gone last,
  ascending last calls = true -> (forall x, In x calls -> In x h) ->
  (forall x, In x pending -> In x h /\ ~ In (inv x) gone) ->
  (forall x, In x h -> In x pending \/ In x calls \/ In (inv x) gone) ->
  (forall x, In x calls -> ~ In (inv x) gone) ->
  (forall x, In x pending -> In x calls -> False) ->
  go calls pending layer targets = Accepted -> forall c w, In c layer -> admits gone c w -> False.
Proof.
  induction targets as [|(time & i) targets IH]; intros calls pending layer gone last A Hc Hp Ha Hg Hdis G c w Hl W.
  - destruct layer; simpl in G; easy.
  - simpl in G. destruct layer as [|c0 layer]; [easy|]. set (ly := c0 :: layer) in *.
    destruct (take time calls pending) as (p & q) eqn:T. apply (take_spec _ _ _ _ _ _ T) in A as ((l & Aq) & Ip & Iq).
    destruct (find _ p) as [target|] eqn:F; [|easy]. apply find_some in F as [Ft Ei]. apply Pos.eqb_eq in Ei. subst i.
    destruct (ret target) as [t|] eqn:R; [|easy]. destruct (t <=? time) eqn:Lt; [|easy]. apply Pos.leb_le in Lt.
    set (cs := search (watch p q) p target ly) in *. destruct (closed (watch p q) p target ly cs) eqn:C; [|easy].
    assert (Hp' : forall x, In x p -> In x h /\ ~ In (inv x) gone). { intros x [Hx|[Hx _]]%Ip; auto. }
    assert (Cl := C). unfold closed in Cl. destruct (forallb (covered p (table (fst cs))) ly) eqn:Fl; [|easy]. rewrite forallb_forall in Fl.
    destruct (admits_covered gone p _ _ _ (fun x Hx => proj1 (Hp' x Hx)) (Fl _ Hl) W) as (c1 & He & W').
    assert (Ha' : forall x, In x h -> inv x <= time -> ~ In (inv x) gone -> In x p).
    { intros x Hx L Nx. apply Ip. destruct (Ha x Hx) as [|[|]]; auto. easy. }
    assert (Hq' : forall x, In x h -> ~ In (inv x) gone -> In x p \/ In x q).
    { intros x Hx N. destruct (Pos.leb_spec (inv x) time); [left; auto|]. destruct (Ha x Hx) as [|[|]]; [left; apply Ip; auto|right; apply Iq; auto|easy]. }
    destruct (closed_reaches gone p q l time t target Hp' Ha' Hq' Aq Ft R Lt ly cs C _ _ _ W' (or_introl (conj He (le_n _)))) as (c' & w' & Hc' & Hin & [D I L' T' Ru Q]).
    assert (Ru' := Ru).
    eapply (IH q (filter (fun o => negb (inv o =? inv target)) p) (survivors target (fst cs)) (inv target :: gone) l) with (w := w'); eauto using survivors_in.
    + intros x [Hx _]%Iq. auto.
    + intros x [Hx N]%filter_In. destruct (Hp' _ Hx). split; auto. intros [E|]; [|easy]. rewrite E, Pos.eqb_refl in N. easy.
    + intros x Hx. destruct (Pos.eqb_spec (inv x) (inv target)) as [E|E]; [right; right; left; easy|].
      destruct (Pos.leb_spec (inv x) time) as [B|B].
      * destruct (Ha x Hx) as [P|[P|P]]; [left|left|now right; right; right]; (apply filter_In; split; [apply Ip; auto|now apply Pos.eqb_neq in E as ->]).
      * destruct (Ha x Hx) as [P|[P|P]]; [left|right; left; apply Iq; auto|now right; right; right].
        apply filter_In; split; [apply Ip; auto|now apply Pos.eqb_neq in E as ->].
    + intros x [Hx B]%Iq [E|Hg']; [|now apply (Hg x)].
      destruct (Hp' _ Ft) as [Hth _]. assert (x = target) by (apply (sorted_unique h); auto). subst x.
      apply Ip in Ft as [Hpe|[_ ?]]; [exact (Hdis target Hpe Hx)|lia].
    + intros x [Hx _]%filter_In [Hx' B]%Iq. apply Ip in Hx as [Hx|[_ ?]]; [exact (Hdis x Hx Hx')|lia].
    + constructor; simpl; auto.
      * intros x Hx. destruct (L' _ Hx) as [N1 N2]. split; [rewrite in_remove; tauto|]. intros [E|]; [|easy]. apply N1. now rewrite <- E.
      * intros x Hx N. destruct (Q _ Hx N) as [|[|]]; auto. rewrite in_remove. destruct (Pos.eq_dec (inv x) (inv target)); auto.
Qed.
End Refutation.

Theorem check_core_sound init h targets s : check_core init h targets = Accepted -> abs init s -> ~ Linearizable step s h.
Proof.
  unfold check_core. destruct (sorted h) eqn:S; [|easy]. intros G A (os & [D I R T X]).
  eapply (go_sound h S targets h [] [(init, [])] [] 1) with (c := (init, [])) (w := os); simpl; auto; try easy.
  constructor; simpl; auto. now exists s.
Qed.
End Core.
