-- What a top-up was agreed to bring, and more reasons for its end.
--
-- Why: an agreement named the pack and its price, so a pack with fewer credits at the same price
-- was bought again and again. And refunds, disputes and a forgotten card did not end a top-up, so
-- the card was charged once more.
--
-- Safe while an older version runs: the column may be null, which is how that version records an
-- agreement. A worker of this version stops a top-up whose agreement names no credits, and writes
-- to its owner; SQL could not write that letter. Both tables are small and locked for a moment.
-- Until the last worker of the older version is gone, it buys by its own rules.

alter table top_up_consents
  -- Microcredits of the pack, as the owner saw them; null: recorded before they were asked for.
  add column credits int8
    constraint top_up_consents_are_about_credits check (credits > 0);

alter table top_ups
  drop constraint top_ups_stop_for_a_reason,
  add constraint top_ups_stop_for_a_reason check (
    stopped_why in (
      'owner', 'declined', 'pack_changed', 'refunded', 'disputed', 'forgotten',
      'consent_incomplete'
    )
  );
