-- Disputes have a deadline, a failed receipt that a person has dealt with leaves its queue, and an
-- act that waits for a second person says so.
--
-- disputes.answer_by: until when the bank accepts evidence, as the provider's letter says; without
-- it five days, because a deadline that is too early costs nothing.
--
-- Safe while an older version runs: it opens disputes with the default, and shows the new outcome
-- of an act as the word that it is.

alter table disputes add column answer_by timestamptz;
update disputes set answer_by = opened_at + interval '5 days';
alter table disputes alter column answer_by set default ledger_now() + interval '5 days';
-- contract: the default is what the previous version inserts.
alter table disputes alter column answer_by set not null;
alter table disputes add constraint disputes_give_time_to_answer check (answer_by > opened_at);

-- One row for each failed receipt that a person has dealt with: made again in the merchant portal,
-- or not due. The provider's own word, orders.receipt_state, stays as it is.
create table receipt_decisions (
  order_id text primary key references orders (id),
  decided_by text not null
    constraint receipt_decisions_name_who_decided check (length(decided_by) between 1 and 100),
  note text not null
    constraint receipt_decisions_have_a_reason check (length(note) between 1 and 1000),
  decided_at timestamptz not null default ledger_now()
);

create index orders_with_failed_receipts on orders (credited_at) where receipt_state = 'canceled';

alter type act_outcome add value 'asked' before 'refused';
