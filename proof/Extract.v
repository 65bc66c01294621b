(** The checker as OCaml. *)
From Coq Require Import Extraction ExtrOcamlBasic.
From Clew Require Import History Order First Core Check Models.
From Clew Require Elements Holders Sums Spec_Registers Spec_Set Stored.
Extraction Language OCaml.
Extraction "proved.ml" valid invalid begun_by best insert has under doomed sees left_ besides members cas_of_numbers cas_of_strings
  Spec_Registers.read Spec_Registers.write Spec_Registers.refused Spec_Registers.erase Spec_Registers.append
  of_numbers of_strings registers_init fifo stack unordered priority priority_init bag_init counter growing_set Spec_Set.set_of ids growing_ids
  versioned owned fenced bank log Stored.StoredLog.stored lease list_append Stored.StoredLists.stored
  check_pattern stale_of_numbers stale_of_strings overwritten_of_numbers overwritten_of_strings Spec_Registers.looks makes_of_numbers makes_of_strings
  Elements.duplicate Elements.lost_element Elements.fifo_inversion Elements.stack_inversion Holders.number_holders Holders.owned_holders Holders.fenced_holders
  Sums.unexplained Sums.perhaps Sums.brings
  log_pattern list_pattern lease_pattern list_before list_cycle.
