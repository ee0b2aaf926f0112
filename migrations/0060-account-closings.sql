-- Closing an account is a process that a worker drives: closing (requests under way end, orders run
-- out), drained (refunds are requested and end), refunded, closed. A row is one closing; an account
-- has at most one that has not ended.
--
-- Safe while an older version runs: it closes accounts without a row, and never reads the table. An
-- account that it closes during a closing ends that closing at the worker's next look.

create table account_closings (
  id bigint generated always as identity primary key,
  account_id text not null references accounts (id),
  -- What the owner, or an operator in the owner's place, decided about the unspent credits.
  unspent text not null
    constraint account_closings_decide_about_the_rest check (unspent in ('refund', 'forfeit')),
  begun_by text not null
    constraint account_closings_name_who_began check (begun_by in ('owner', 'operator')),
  -- The book was stopped before, so stopping the closing does not let it go on.
  was_stopped boolean not null,
  step text not null default 'closing'
    constraint account_closings_have_a_step
      check (step in ('closing', 'drained', 'refunded', 'closed', 'stopped')),
  begun_at timestamptz not null default ledger_now(),
  drained_at timestamptz,
  refunded_at timestamptz,
  ended_at timestamptz,
  -- When a worker looks again; null: never.
  next_at timestamptz default ledger_now(),
  constraint account_closings_times_follow_steps check (
    (drained_at is not null) = (step in ('drained', 'refunded', 'closed'))
    and (refunded_at is not null) = (step in ('refunded', 'closed'))
    and (ended_at is not null) = (step in ('closed', 'stopped'))
    and (next_at is null) = (ended_at is not null)
  )
);

create unique index account_closings_one_at_a_time on account_closings (account_id)
  where ended_at is null;
create index account_closings_by_account on account_closings (account_id, id);
create index account_closings_due on account_closings (next_at) where ended_at is null;

create function account_closings_move() returns trigger language plpgsql as $$
begin
  if (new.id, new.account_id, new.unspent, new.begun_by, new.was_stopped, new.begun_at)
    is distinct from
    (old.id, old.account_id, old.unspent, old.begun_by, old.was_stopped, old.begun_at) then
    raise exception 'what was agreed when closing % began cannot change', old.id
      using errcode = 'check_violation';
  end if;
  if new.step <> old.step and (old.step, new.step) not in (
    ('closing', 'drained'), ('closing', 'stopped'), ('drained', 'refunded'), ('refunded', 'closed')
  ) then
    raise exception 'closing % cannot go from % to %', old.id, old.step, new.step
      using errcode = 'check_violation';
  end if;
  return new;
end $$;

create trigger account_closings_move before update on account_closings
  for each row execute function account_closings_move();
