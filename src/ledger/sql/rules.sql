-- What books, holds and entries must be, as functions: PostgreSQL reads a function once for each
-- connection and the text of a CHECK anew for each statement. A broken rule is reported by name.

create or replace function books_keep_rules(
  available int8, held int8, debt int8, day_limit int8, velocity_limit int8, velocity_seconds int4
) returns boolean language plpgsql immutable as $$
declare
  v_broken text := case
    when available < 0 then 'books_available_is_never_negative'
    when held < 0 then 'books_held_is_never_negative'
    when debt < 0 then 'books_debt_is_never_negative'
    when debt <> 0 and available <> 0 then 'books_debt_leaves_nothing_available'
    when day_limit < 0 then 'books_day_limit_is_not_negative'
    when velocity_limit < 0 then 'books_velocity_limit_is_not_negative'
    when velocity_seconds <= 0 then 'books_velocity_window_is_positive'
  end;
begin
  if v_broken is not null then
    raise check_violation using message = 'a book breaks ' || v_broken, constraint = v_broken;
  end if;
  return true;
end $$;

create or replace function holds_keep_rules(
  worst int8, floor int8, granted int8, state hold_state, ending ending, entry_seq int8,
  charged int8, closed_at timestamptz
) returns boolean language plpgsql immutable as $$
declare
  v_broken text := case
    when granted < 0 or granted > worst or floor < 0 or floor > worst
      then 'holds_grant_no_more_than_the_worst_case'
    when charged < 0 or charged > granted then 'holds_charge_no_more_than_they_hold'
    when state = 'settled' and (charged is null or entry_seq is null)
      then 'holds_settle_with_an_entry'
    when (state = 'open') <> (ending is null) or (state = 'open') <> (closed_at is null)
      then 'holds_close_with_an_ending'
  end;
begin
  if v_broken is not null then
    raise check_violation using message = 'a hold breaks ' || v_broken, constraint = v_broken;
  end if;
  return true;
end $$;

create or replace function entries_keep_rules(
  kind entry_kind, amount int8, priced int8, written_off int8, hold_id uuid, ending ending, ref text
) returns boolean language plpgsql immutable as $$
declare
  v_broken text := case
    when kind = 'charge' and (priced <> written_off - amount or amount > 0 or written_off < 0)
      then 'entries_charge_what_was_priced_less_what_was_written_off'
    when kind in ('charge', 'void') and (hold_id is null or ending is null)
      then 'entries_of_requests_name_their_hold'
    when kind = 'void' and amount <> 0 then 'entries_of_voids_are_free'
    when kind not in ('charge', 'void') and ref is null
      then 'entries_of_rare_kinds_name_their_posting'
  end;
begin
  if v_broken is not null then
    raise check_violation using message = 'an entry breaks ' || v_broken, constraint = v_broken;
  end if;
  return true;
end $$;

-- Nobody corrects the past: a correction is a new entry. Only what a client called its requests can
-- go, when its person is erased.
create or replace function ledger_refuse_change() returns trigger language plpgsql as $$
declare
  c_names constant text[] := array['session_id', 'agent_id', 'parent_agent_id', 'label'];
begin
  if tg_op = 'UPDATE' and to_jsonb(new) ?& c_names
    and to_jsonb(new) - c_names = to_jsonb(old) - c_names
    and not jsonb_strip_nulls(to_jsonb(new)) ?| c_names then
    return new;
  end if;
  raise exception '% is append-only', tg_table_name
    using errcode = 'integrity_constraint_violation';
end $$;

-- Array forms lock the books' rows in one statement and read them in the next. Under REPEATABLE
-- READ the second one would still see the books as they were before the lock.
create or replace function ledger_assert_read_committed() returns void language plpgsql as $$
begin
  if current_setting('transaction_isolation') <> 'read committed' then
    raise exception 'the ledger needs READ COMMITTED' using errcode = 'invalid_transaction_state';
  end if;
end $$;
