-- Recovery of an account whose owner lost the authenticator or the mailbox, or is locked out.
--
-- Why: a person who lost both had no way back but an operator with SQL, and that way asked nobody.
-- Now a recovery waits, warns every known mailbox and every signed-in browser, and can be stopped;
-- the database itself refuses to complete one early or without the warnings.
--
-- Safe while an older version runs: it begins no recovery; what it does with an account (closing
-- it, another address, another password) ends one that waits. It ignores the new columns.

create table account_recoveries (
  id text primary key,
  account_id text not null references accounts (id) on delete cascade,
  -- What the owner lost. authenticator: the second factor goes; mailbox: the address is replaced.
  kind text not null,
  begun_by text not null,
  -- What was proven about the person: names of steps, never what the person said.
  steps text[] not null,
  new_email text,
  -- The digest of the code that confirms the mailbox, after an operator began.
  confirm_hash bytea,
  wait_hours int4 not null,
  begun_at timestamptz not null default clock_timestamp(),
  -- When the wait began and ends, and when the recovery lapses. The trigger sets them.
  opened_at timestamptz,
  ripe_at timestamptz,
  ends_at timestamptz not null default clock_timestamp(),
  -- The mailboxes that were known when the wait began: each is warned.
  mailbox text,
  old_mailbox text,
  -- When the owner was told that the wait is over; the digest of the code in that e-mail.
  ready_at timestamptz,
  ready_hash bytea,
  -- After done_at as well: for a week a stop takes back what was completed.
  stopped_at timestamptz,
  stopped_by text,
  done_at timestamptz,
  -- The second factor that was removed, encrypted as it was, for that week.
  removed_factor jsonb,
  constraint account_recoveries_have_known_kinds
    check (kind in ('authenticator', 'mailbox', 'both')),
  constraint account_recoveries_are_begun_by_someone check (begun_by in ('owner', 'operator')),
  constraint account_recoveries_replace_an_address
    check ((kind = 'authenticator') = (new_email is null)),
  constraint account_recoveries_addresses_are_lower_case check (new_email = lower(new_email)),
  -- By themselves owners recover only the authenticator, with password and mailbox.
  constraint account_recoveries_have_two_steps check (cardinality(steps) >= 2 and (
    (begun_by = 'owner' and kind = 'authenticator' and steps = array['password', 'mailbox'])
    or (begun_by = 'operator' and steps <@ array['payment', 'card', 'request', 'key']))),
  constraint account_recoveries_confirm_by_code
    check ((begun_by = 'operator') = (confirm_hash is not null)),
  -- A day at least, so that a person who reads e-mail daily can stop it; a month at most.
  constraint account_recoveries_wait_a_day check (wait_hours between 24 and 720),
  constraint account_recoveries_open_whole check ((opened_at is null) = (ripe_at is null)
    and (opened_at is null) = (mailbox is null)),
  constraint account_recoveries_say_who_stopped check ((stopped_at is null) = (stopped_by is null)),
  constraint account_recoveries_have_known_ends check (stopped_by in ('link', 'session', 'sign_in',
    'operator', 'closed', 'email_changed', 'factor_changed', 'password_changed', 'lapsed')),
  constraint account_recoveries_keep_a_factor_that_went
    check (removed_factor is null or done_at is not null),
  constraint account_recoveries_confirm_once unique (confirm_hash),
  constraint account_recoveries_complete_once unique (ready_hash)
);
-- One at a time.
create unique index account_recoveries_are_one_per_account on account_recoveries (account_id)
  where stopped_at is null and done_at is null;
create unique index account_recoveries_reserve_an_address_once on account_recoveries (new_email)
  where new_email is not null and stopped_at is null and done_at is null;
create index account_recoveries_by_account on account_recoveries (account_id, begun_at);

-- One row for each e-mail about a recovery that has a link to stop it.
create table account_recovery_warnings (
  recovery_id text not null references account_recoveries (id) on delete cascade,
  channel text not null,
  stage text not null,
  stop_hash bytea not null,
  posted_at timestamptz not null default clock_timestamp(),
  primary key (recovery_id, channel, stage),
  constraint account_recovery_warnings_have_known_channels
    check (channel in ('mailbox', 'old_mailbox')),
  constraint account_recovery_warnings_have_known_stages
    check (stage in ('opened', 'half', 'day', 'done')),
  constraint account_recovery_warnings_stop_by_their_own_code unique (stop_hash)
);

-- What an operator asked a person who says to be the owner: which step, and whether it matched.
create table account_identity_checks (
  account_id text not null references accounts (id) on delete cascade,
  step text not null,
  is_matched boolean not null,
  checked_at timestamptz not null default clock_timestamp(),
  constraint account_identity_checks_have_known_steps
    check (step in ('payment', 'card', 'request', 'key'))
);
create index account_identity_checks_by_account on account_identity_checks (account_id, checked_at);

-- Until when guesses of others keep unknown browsers from signing in, for an operator to see; and
-- how often an operator has forgotten such counts: their keys contain it.
alter table accounts add column guessed_until timestamptz;
alter table accounts add column unlocks int4 not null default 0;

-- A recovery is completed only after its waiting time, and only if each known mailbox was warned a
-- day before at least. Times are the database's: who writes the row cannot choose them.
create or replace function account_recoveries_keep_rules() returns trigger
language plpgsql set search_path = pg_catalog, public, pg_temp as $$
declare
  v_now timestamptz := clock_timestamp();
begin
  if tg_op = 'INSERT' then
    if new.stopped_at is not null or new.done_at is not null or new.removed_factor is not null
      or new.ready_at is not null then
      raise exception 'a recovery begins at its beginning'
        using errcode = 'check_violation', constraint = 'account_recoveries_begin';
    end if;
    -- An operator proves nothing by saying so: the comparisons are rows of their own.
    if new.begun_by = 'operator' and (
      select count(distinct step) from account_identity_checks c
      where c.account_id = new.account_id and c.is_matched and c.step = any (new.steps)
        and c.checked_at > v_now - interval '24 hours') < greatest(2, cardinality(new.steps)) then
      raise exception 'the identity steps of this recovery did not match within the last day'
        using errcode = 'check_violation', constraint = 'account_recoveries_identity';
    end if;
    new.begun_at := v_now;
    -- The new mailbox, or the owner's own after an operator began, has to be confirmed first.
    if new.begun_by = 'operator' then
      new.opened_at := null;
      new.ends_at := v_now + interval '24 hours';
    else
      new.opened_at := v_now;
    end if;
  else
    if (new.id, new.account_id, new.kind, new.begun_by, new.steps, new.wait_hours, new.begun_at)
      is distinct from (old.id, old.account_id, old.kind, old.begun_by, old.steps, old.wait_hours,
        old.begun_at)
      or new.new_email is distinct from old.new_email
      or new.confirm_hash is distinct from old.confirm_hash
      or (old.opened_at is not null and (new.opened_at, new.ripe_at, new.ends_at, new.mailbox)
        is distinct from (old.opened_at, old.ripe_at, old.ends_at, old.mailbox))
      or (old.opened_at is not null and new.old_mailbox is distinct from old.old_mailbox)
      or (old.opened_at is null and new.opened_at is null
        and (new.ripe_at, new.ends_at) is distinct from (old.ripe_at, old.ends_at))
      or (old.stopped_at is not null
        and (new.stopped_at, new.stopped_by, new.done_at) is distinct from
          (old.stopped_at, old.stopped_by, old.done_at))
      or (old.done_at is not null and new.done_at is distinct from old.done_at) then
      raise exception 'what a recovery has recorded is not changed'
        using errcode = 'check_violation', constraint = 'account_recoveries_keep_what_was';
    end if;
    if old.opened_at is null and new.opened_at is not null then
      if old.ends_at <= v_now or old.stopped_at is not null then
        raise exception 'this recovery has ended'
          using errcode = 'check_violation', constraint = 'account_recoveries_open_in_time';
      end if;
      new.opened_at := v_now;
    end if;
    if old.stopped_at is null and new.stopped_at is not null then
      new.stopped_at := v_now;
    end if;
  end if;
  if new.opened_at is not null and (tg_op = 'INSERT' or old.opened_at is null) then
    new.ripe_at := new.opened_at + make_interval(hours => new.wait_hours);
    -- A week to come back after the wait; a recovery that nobody completes must not stay usable.
    new.ends_at := new.ripe_at + interval '7 days';
    select email into strict new.mailbox from accounts where id = new.account_id;
    select c.old_email into new.old_mailbox from email_changes c
      where c.account_id = new.account_id and c.undo_until > v_now;
  end if;
  if new.done_at is not null and (tg_op = 'INSERT' or old.done_at is null) then
    if new.stopped_at is not null or new.opened_at is null or v_now < new.ripe_at
      or v_now >= new.ends_at then
      raise exception 'a recovery is completed after its wait, and only if nobody stopped it'
        using errcode = 'check_violation', constraint = 'account_recoveries_wait';
    end if;
    -- Each mailbox that was known when the wait began: its letter left a day ago or was refused.
    if exists (
      select from (values ('mailbox', new.mailbox), ('old_mailbox', new.old_mailbox))
        as known (channel, address)
      where known.address is not null and not exists (
        select from letters l
        join account_recovery_warnings w
          on w.recovery_id = new.id and w.channel = known.channel and w.stage = 'opened'
        where l.kind = 'recovery-opened' and l.once = new.id || ' ' || known.channel
          and l.recipient = known.address and l.state <> 'queued'
          and l.ended_at <= v_now - interval '24 hours')
    ) then
      raise exception 'the owner was not warned in every known mailbox a day ago'
        using errcode = 'check_violation', constraint = 'account_recoveries_warn';
    end if;
    new.done_at := v_now;
  end if;
  return new;
end $$;

-- Whoever closes the account, changes its address or its second factor, or sets a password ends
-- a recovery that waits, also through a program that knows of none. Security definer: these
-- programs need no right on recoveries.
create or replace function accounts_end_recoveries() returns trigger
language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
declare
  v_account text;
  v_by text;
begin
  if tg_table_name = 'credentials' then
    if new.password_hash is not distinct from old.password_hash then return null; end if;
    v_account := new.account_id;
    v_by := 'password_changed';
  else
    v_account := new.id;
    v_by := case
      when new.closed_at is not null and old.closed_at is null then 'closed'
      when new.email is distinct from old.email then 'email_changed'
      when new.second_factor_on is distinct from old.second_factor_on then 'factor_changed'
    end;
    if v_by is null then return null; end if;
  end if;
  update account_recoveries set stopped_at = clock_timestamp(), stopped_by = v_by
  where account_id = v_account and stopped_at is null and done_at is null;
  return null;
end $$;

create trigger account_recoveries_keep_rules
  before insert or update on account_recoveries
  for each row execute function account_recoveries_keep_rules();

create trigger accounts_end_recoveries
  after update of email, closed_at, second_factor_on on accounts
  for each row execute function accounts_end_recoveries();

create trigger credentials_end_recoveries
  after update of password_hash on credentials
  for each row execute function accounts_end_recoveries();

-- Runs after the unique index was checked: if another account gives the address up in a concurrent
-- transaction, the index waits for that commit, and this query then sees the reservation.
create or replace function accounts_refuse_reserved_email() returns trigger language plpgsql as $$
begin
  if exists (
    select from email_changes
    where old_email = new.email and account_id <> new.id and undo_until > clock_timestamp()
  ) or exists (
    select from account_recoveries
    where new_email = new.email and account_id <> new.id
      and stopped_at is null and done_at is null and ends_at > clock_timestamp()
  ) then
    raise exception 'the address is reserved for another account'
      using errcode = 'unique_violation', constraint = 'accounts_emails_are_not_reserved';
  end if;
  return null;
end $$;
