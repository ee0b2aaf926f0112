-- The only function that adds the credits of a trial, and the only writer of the tables of trials.

-- Grants a trial to a new book, once for an address ever, within the limits of its network and of
-- the day. The lock of the day's row is the first one taken, so that trials are decided one
-- after the other, whatever their addresses and networks are; the ledger's is the last one. Whoever
-- calls it passes the limits of the settings; the tables' own limits bound a caller who lies.
-- Answers 'granted', 'not_new', 'address_used', 'network_exhausted' or 'day_exhausted'.
create or replace function trials_grant(
  p_book int8, p_address bytea, p_network bytea, p_credits int8, p_network_max int4,
  p_day_max int8, out outcome text
) language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
declare
  v_day date := (ledger_now() at time zone 'UTC')::date;
  v_given int8;
  v_trials int4;
begin
  insert into trial_days (day, credits) values (v_day, 0) on conflict do nothing;
  select d.credits into v_given from trial_days d where d.day = v_day for no key update;
  if exists (select from lots l where l.book_id = p_book) then
    outcome := 'not_new';
    return;
  end if;
  if exists (select from trials t where t.address_digest = p_address) then
    outcome := 'address_used';
    return;
  end if;
  if v_given + p_credits > p_day_max then
    outcome := 'day_exhausted';
    return;
  end if;
  select n.trials into v_trials from trial_networks n
  where n.network_digest = p_network and n.day = v_day;
  if coalesce(v_trials, 0) >= p_network_max then
    outcome := 'network_exhausted';
    return;
  end if;
  insert into trial_networks (network_digest, day, trials) values (p_network, v_day, 1)
  on conflict (network_digest, day) do update set trials = trial_networks.trials + 1;
  update trial_days d set credits = d.credits + p_credits where d.day = v_day;
  insert into trials (book_id, address_digest, credits) values (p_book, p_address, p_credits);
  select case l.outcome when 'posted' then 'granted' else l.outcome end into outcome
  from ledger_credit(p_book, 'promo', 'trial ' || p_book, p_credits, 'promo', 'trial') l;
  if outcome <> 'granted' then
    raise exception 'the trial of book % answered %', p_book, outcome;
  end if;
end $$;
