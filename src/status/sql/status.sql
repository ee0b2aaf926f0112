-- What a probe saw goes into the history by this function alone, so that no program can rewrite the
-- past: the worker may not write these tables itself. Security definer for that reason.

-- The history is written forwards only. While the database's clock is behind what was recorded, the
-- state is kept up and the history waits. Time between two probes counts as the worse of the two;
-- time longer than `p_gap` was not observed, and counts as nothing. An outage begins with the first
-- of two failed probes in a row and ends with the first of two good ones. Returns what happened.
create or replace function status_record(
  p_component text, p_state text, p_reason text, p_gap interval, p_next interval
) returns table (event text, outage int8)
language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
declare
  c status_components;
  v_now timestamptz;
  v_is_away boolean;
  v_is_planned boolean;
  v_kind text;
  v_run int4;
  v_run_began timestamptz;
  v_open status_outages;
begin
  select * into strict c from status_components where component = p_component for update;
  v_now := ledger_now();
  v_is_away := c.probed_at is null or v_now < c.probed_at or v_now - c.probed_at > p_gap;
  v_is_planned := exists (select from status_incidents i
    where i.kind = 'maintenance' and i.closed_at is null and p_component = any (i.components)
      and v_now >= i.begins_at and v_now < i.ends_at);

  if c.recorded_to is null or v_now > c.recorded_to then
    if c.recorded_to is not null and v_is_away then
      insert into status_samples (component, at, state, reason)
        values (p_component, c.recorded_to + interval '1 microsecond', 'unknown', 'no probe ran')
        on conflict do nothing;
    elsif c.recorded_to is not null then
      perform status_count(p_component, c.recorded_to, v_now,
        case
          when 'failed' in (c.state, p_state) and v_is_planned then 'planned'
          when 'failed' in (c.state, p_state) then 'failed'
          when array['unknown', 'unmeasured'] && array[c.state, p_state] then null
          when 'paused' in (c.state, p_state) then 'planned'
          else 'working'
        end);
    end if;
    if c.recorded_to is null or v_is_away or p_state <> c.state then
      insert into status_samples (component, at, state, reason)
        values (p_component, v_now, p_state, p_reason)
        on conflict do nothing;
    end if;
  end if;

  v_kind := case when p_state = 'failed' then 'failed'
    when p_state in ('working', 'slow') then 'good' end;
  if v_is_away or v_kind is null or v_kind is distinct from c.run_kind then
    v_run := 1;
    v_run_began := v_now;
  else
    v_run := least(c.run_length + 1, 1000000);
    v_run_began := c.run_began;
  end if;

  update status_components set
    state = p_state, reason = p_reason, probed_at = v_now,
    since = case when p_state = c.state and not v_is_away then c.since else v_now end,
    first_at = coalesce(c.first_at, case when p_state <> 'unmeasured' then v_now end),
    recorded_to = greatest(c.recorded_to, v_now), next_at = v_now + p_next,
    run_kind = v_kind, run_length = v_run, run_began = v_run_began
    where component = p_component;

  select * into v_open from status_outages where component = p_component and ended_at is null;
  if v_open.id is null and v_kind = 'failed' and v_run >= 2 and not v_is_planned then
    insert into status_outages (component, began_at, reason)
      values (p_component, greatest(v_run_began, (select max(o.ended_at) from status_outages o
        where o.component = p_component)), p_reason)
      returning id into v_open.id;
    return query select 'opened', v_open.id;
  elsif v_open.id is not null
    and ((v_kind = 'good' and v_run >= 2) or p_state in ('paused', 'unmeasured')) then
    update status_outages set ended_at = greatest(v_run_began, began_at) where id = v_open.id;
    return query select 'closed', v_open.id;
  end if;
end
$$;

-- Adds a span of time to the days of a component that it touches, UTC.
create or replace function status_count(
  p_component text, p_from timestamptz, p_to timestamptz, p_what text
) returns void language sql as $$
  insert into status_days as d (component, day, working_ms, failed_ms, planned_ms)
  select p_component, (s.day at time zone 'UTC')::date,
    case when p_what = 'working' then s.ms else 0 end,
    case when p_what = 'failed' then s.ms else 0 end,
    case when p_what = 'planned' then s.ms else 0 end
  from (
    select b.day, floor(1000 * extract(epoch from
      least(p_to, b.day + interval '24 hours') - greatest(p_from, b.day)))::int8 as ms
    from generate_series(date_trunc('day', p_from, 'UTC'), p_to, interval '24 hours') as b (day)
  ) s
  where s.ms > 0 and p_what is not null
  on conflict (component, day) do update set
    working_ms = d.working_ms + excluded.working_ms,
    failed_ms = d.failed_ms + excluded.failed_ms,
    planned_ms = d.planned_ms + excluded.planned_ms
$$;

-- Removes what the page does not show any more: it has the last 90 days, today included.
create or replace function status_forget() returns void
language sql security definer set search_path = pg_catalog, public, pg_temp as $$
  delete from status_days
    where day <= (ledger_now() at time zone 'UTC')::date - 90;
  delete from status_outages where ended_at < ledger_now() - interval '90 days';
  delete from status_samples s where at < ledger_now() - interval '90 days'
    and exists (select from status_samples later
      where later.component = s.component and later.at > s.at
        and later.at <= ledger_now() - interval '90 days');
$$;
