-- The ledger's tables: books, holds, entries, and what keeps them honest.
--
-- Safe while an older version runs: it is the first migration.
--
-- Amounts are microcredits (int8). Times are the database's, through ledger_now(), so that a
-- gateway with a wrong clock cannot move a charge to another day, and so that a test can turn the
-- clock. Hot tables (books, holds, entries) carry no foreign keys and no index on a column that a
-- settle changes: see docs/decisions/0011-no-foreign-keys-on-hot-tables.md for the measurements.

create function ledger_now() returns timestamptz
language sql volatile as 'select clock_timestamp()';

-- Which cell this database is. One row; a deployment with one cluster is cell 0.
create table cell (
  is_only boolean primary key default true constraint cell_is_one_row check (is_only),
  number int2 not null constraint cell_number_fits_ids check (number between 0 and 4095)
);
insert into cell (number) values (0);

-- Serials are per cell: no sequence spans cells.
create sequence books_serial;

create type blocked_reason as enum ('operator_blocked', 'owner_suspended', 'velocity_stopped');

-- One row per customer. available + held - debt is the balance that entries chain to.
-- fillfactor 40 leaves room for the row versions of a burst, so updates stay on the page (HOT).
create table books (
  id int8 primary key,
  available int8 not null default 0
    constraint books_available_is_never_negative check (available >= 0),
  held int8 not null default 0
    constraint books_held_is_never_negative check (held >= 0),
  debt int8 not null default 0
    constraint books_debt_is_never_negative check (debt >= 0),
  seq int8 not null default 0,
  fence int8 not null default 0,
  requests int8 not null default 0,
  spent_total int8 not null default 0,
  day_spent int8 not null default 0,
  day_limit int8
    constraint books_day_limit_is_not_negative check (day_limit >= 0),
  velocity_limit int8
    constraint books_velocity_limit_is_not_negative check (velocity_limit >= 0),
  velocity_spent int8 not null default 0,
  velocity_until timestamptz not null default '-infinity',
  created_at timestamptz not null default clock_timestamp(),
  velocity_seconds int4 not null default 3600
    constraint books_velocity_window_is_positive check (velocity_seconds > 0),
  day date not null default '-infinity',
  blocked_reason blocked_reason,
  constraint books_debt_leaves_nothing_available check (debt = 0 or available = 0)
) with (fillfactor = 40, autovacuum_vacuum_scale_factor = 0.02);

-- The price a charge was made at, frozen: a hold names its tariff, so a request keeps the prices it
-- was admitted with. Coefficient and weights are in millionths.
create table tariffs (
  id int4 generated always as identity primary key,
  catalogue_version int4 not null,
  model text not null,
  coefficient int8 not null constraint tariffs_coefficient_is_not_negative check (coefficient >= 0),
  cache_read int8 not null constraint tariffs_cache_read_is_not_negative check (cache_read >= 0),
  cache_write_5m int8 not null
    constraint tariffs_cache_write_5m_is_not_negative check (cache_write_5m >= 0),
  cache_write_1h int8 not null
    constraint tariffs_cache_write_1h_is_not_negative check (cache_write_1h >= 0),
  constraint tariffs_are_one_per_version_and_model unique (catalogue_version, model)
);

create type hold_state as enum ('open', 'settled', 'voided');

-- How a request ended. The first two charge; the others are free.
create type ending as enum (
  'complete', 'client_left',
  'refused', 'upstream_failed', 'process_lost', 'given_up', 'overdue'
);

-- Credits set aside for one request. `day` is the day inside the id, so (day, id) finds its
-- partition. entry_seq names the entry that closed it: a repeated settle compares itself with that.
create table holds (
  id uuid not null,
  book_id int8 not null,
  instance int8 not null,
  worst int8 not null,
  floor int8 not null,
  granted int8 not null,
  fence int8 not null,
  created_at timestamptz not null,
  deadline_at timestamptz not null,
  day int4 not null,
  tariff int4 not null,
  state hold_state not null,
  ending ending,
  entry_seq int8,
  charged int8,
  closed_at timestamptz,
  primary key (day, id),
  constraint holds_grant_no_more_than_the_worst_case
    check (granted between 0 and worst and floor between 0 and worst),
  constraint holds_charge_no_more_than_they_hold
    check (charged is null or charged between 0 and granted),
  constraint holds_settle_with_an_entry
    check (state <> 'settled' or (charged is not null and entry_seq is not null)),
  constraint holds_close_with_an_ending
    check ((state = 'open') = (ending is null) and (state = 'open') = (closed_at is null))
) partition by range (day);

-- fillfactor 44: an open hold takes 128 bytes of a page and its closed version 148, so 28 of them
-- fit beside their successors even when one array closes them all at once. At 50, one in eight
-- moved to another page, and each that moves costs an index entry.
create table holds_default partition of holds default with (fillfactor = 44);
-- Ids grow with time, so a block-range index finds the holds of an hour for the price of nothing
-- per insert; it is what the sweeper reads.
create index holds_by_creation on holds using brin (created_at) with (pages_per_range = 32);

create type entry_kind as enum (
  'purchase', 'promo', 'charge', 'void', 'refund', 'refund_reversal', 'forced_debit', 'adjust',
  'transfer'
);
-- The other side of an entry: where the credits came from or went.
create type contra as enum ('revenue', 'clearing', 'promo', 'loss', 'none');

-- One append-only change of a book. seq numbers a book's entries without gaps; balance is
-- available + held - debt after it; so each entry equals the one before plus its amount.
create table entries (
  book_id int8 not null,
  seq int8 not null,
  amount int8 not null,
  balance int8 not null,
  at timestamptz not null,
  hold_id uuid,
  input int8,
  output int8,
  cache_read int8,
  cache_write_5m int8,
  cache_write_1h int8,
  priced int8,
  written_off int8,
  day date not null,
  tariff int4,
  kind entry_kind not null,
  contra contra not null,
  ending ending,
  estimated boolean,
  message_id text,
  ref text,
  note text,
  primary key (book_id, seq, day),
  constraint entries_charge_what_was_priced_less_what_was_written_off
    check (kind <> 'charge'
      or (priced = written_off - amount and amount <= 0 and written_off >= 0)),
  constraint entries_of_requests_name_their_hold
    check (kind not in ('charge', 'void') or (hold_id is not null and ending is not null)),
  constraint entries_of_voids_are_free check (kind <> 'void' or amount = 0),
  constraint entries_of_rare_kinds_name_their_posting
    check (kind in ('charge', 'void') or ref is not null)
) partition by range (day);

create table entries_default partition of entries default;

-- Rare entries happen once per (kind, ref): a payment id credits once, a promo code redeems once.
-- Unpartitioned, because only an unpartitioned key is unique for ever.
create table postings (
  kind entry_kind not null
    constraint postings_are_of_rare_kinds check (kind not in ('charge', 'void')),
  ref text not null constraint postings_refs_are_short check (length(ref) between 1 and 200),
  book_id int8 not null references books (id),
  amount int8 not null,
  seq int8 not null,
  -- The lot that a refund, its reversal or a forced debit is about.
  lot int8,
  at timestamptz not null,
  primary key (kind, ref)
);
create index postings_by_book on postings (book_id, seq);

-- Each credit is a lot. spent_total laid over lots oldest first tells what of a pack is unspent.
create table lots (
  book_id int8 not null references books (id),
  seq int8 not null,
  kind entry_kind not null,
  ref text not null,
  credited int8 not null constraint lots_credit_something check (credited > 0),
  taken_back int8 not null default 0
    constraint lots_take_back_no_more_than_credited check (taken_back between 0 and credited),
  at timestamptz not null,
  primary key (book_id, seq),
  constraint lots_are_one_per_posting unique (kind, ref),
  foreign key (kind, ref) references postings (kind, ref)
);

-- Heartbeats of processes that hold credits. `beat` only counts; nobody compares clocks.
create table instances (
  id int8 primary key,
  role text not null,
  beat int8 not null default 0,
  started_at timestamptz not null,
  beat_at timestamptz not null
) with (fillfactor = 50);

-- Where a book's chain starts after old entries were taken away, and what they summed to.
create table checkpoints (
  book_id int8 primary key references books (id),
  seq int8 not null,
  balance int8 not null,
  day date not null
);
create table checkpoint_sums (
  book_id int8 not null references checkpoints (book_id),
  kind entry_kind not null,
  entries int8 not null,
  amount int8 not null,
  written_off int8 not null,
  primary key (book_id, kind)
);

-- How far the continuous audit has read each book.
create table audit_marks (
  book_id int8 primary key,
  seq int8 not null,
  balance int8 not null,
  day date not null
) with (fillfactor = 70);

-- Nobody corrects the past: a correction is a new entry.
create function ledger_refuse_change() returns trigger language plpgsql as $$
begin
  raise exception '% is append-only', tg_table_name
    using errcode = 'integrity_constraint_violation';
end $$;
create trigger entries_never_change before update or delete on entries
  for each row execute function ledger_refuse_change();
create trigger entries_are_never_emptied before truncate on entries
  for each statement execute function ledger_refuse_change();
create trigger tariffs_never_change before update or delete on tariffs
  for each row execute function ledger_refuse_change();
create trigger tariffs_are_never_emptied before truncate on tariffs
  for each statement execute function ledger_refuse_change();

-- Makes the partitions of a day and what lies ahead of it; returns the names it made.
-- Entries: one a day, seven days ahead. Holds: one a week, this and the next. A day whose rows are
-- in the default partition already (nobody made it in time) is left there: insisting on it would
-- fail, and the days ahead would never be made.
create function ledger_partitions_make(p_today date) returns text[] language plpgsql as $$
declare
  v_made text[] := '{}';
  v_name text;
  v_week int4 := floor((p_today - date '1970-01-01') / 7.0);
begin
  for i in -1..7 loop
    v_name := 'entries_' || to_char(p_today + i, 'YYYYMMDD');
    if to_regclass(v_name) is null
      and not exists (select from entries_default e where e.day = p_today + i) then
      execute format('create table %I partition of entries for values from (%L) to (%L)',
        v_name, p_today + i, p_today + i + 1);
      v_made := v_made || v_name;
    end if;
  end loop;
  for i in 0..1 loop
    v_name := 'holds_' || v_week + i;
    if to_regclass(v_name) is null
      and not exists (select from holds_default h where h.day / 7 = v_week + i) then
      execute format(
        'create table %I partition of holds for values from (%s) to (%s) with (fillfactor = 44)',
        v_name, (v_week + i) * 7, (v_week + i + 1) * 7);
      v_made := v_made || v_name;
    end if;
  end loop;
  return v_made;
end $$;

select ledger_partitions_make((ledger_now() at time zone 'UTC')::date);
