-- The rules of recoveries, in the database's own time: what a program or a person at the database
-- may write, and what ends a recovery whatever program wrote it.

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
