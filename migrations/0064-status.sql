-- The public status page: what our own probes saw, by component and day, with outages; and
-- incidents that operators write.
--
-- Why: the page had one word for each service, read from tables at the moment of the request, and
-- no history.
--
-- Safe while an older version runs: it uses none of this.

-- One row per component: its state, the history's end, and the lease of the next probe.
create table status_components (
  component text primary key
    constraint status_components_are_known
      check (component in ('gateway', 'models', 'payments', 'letters')),
  -- unmeasured: nothing is set up to measure it. unknown: no probe could tell.
  state text not null default 'unmeasured'
    constraint status_components_have_known_states
      check (state in ('working', 'slow', 'failed', 'paused', 'unknown', 'unmeasured')),
  reason text not null default ''
    constraint status_components_reasons_are_short check (length(reason) <= 200),
  since timestamptz not null default ledger_now(),
  -- The first and the last probe that measured something.
  first_at timestamptz,
  probed_at timestamptz,
  -- Until when the history is written: it never goes back, even when the clock does.
  recorded_to timestamptz,
  -- Whose turn it is: the process that moves it forward probes. Turns are counted, because every
  -- tenth costs credits.
  next_at timestamptz not null default ledger_now(),
  turn int8 not null default 0,
  -- The run of failed or good probes that the last probe belongs to.
  run_kind text constraint status_components_runs_are_known check (run_kind in ('failed', 'good')),
  run_length int4 not null default 0,
  run_began timestamptz
);
insert into status_components (component)
  values ('gateway'), ('models'), ('payments'), ('letters');

-- A row for each change of what probes saw, and one where nobody probed.
create table status_samples (
  component text not null references status_components,
  at timestamptz not null,
  state text not null
    constraint status_samples_have_known_states
      check (state in ('working', 'slow', 'failed', 'paused', 'unknown', 'unmeasured')),
  reason text not null
    constraint status_samples_reasons_are_short check (length(reason) <= 200),
  primary key (component, at)
);

-- What of a day, UTC, was observed; the rest of the day nobody knows. `planned`: failed in a
-- maintenance that was announced, or paused by the operator.
create table status_days (
  component text not null references status_components,
  day date not null,
  working_ms int8 not null,
  failed_ms int8 not null,
  planned_ms int8 not null,
  primary key (component, day),
  constraint status_days_are_not_negative
    check (working_ms >= 0 and failed_ms >= 0 and planned_ms >= 0),
  constraint status_days_are_no_longer_than_a_day
    check (working_ms + failed_ms + planned_ms <= 86400000)
);

create table status_outages (
  id int8 generated always as identity primary key,
  component text not null references status_components,
  began_at timestamptz not null,
  ended_at timestamptz,
  reason text not null
    constraint status_outages_reasons_are_short check (length(reason) <= 200),
  constraint status_outages_end_after_they_begin check (ended_at >= began_at)
);
create unique index status_outages_are_open_once
  on status_outages (component) where ended_at is null;
create index status_outages_by_component on status_outages (component, ended_at);

-- What an operator says about an incident, or announces as maintenance. Control characters are
-- those that no XML may contain: the feed shows these texts. An address in one would tell everybody
-- who a customer is, and stay after an erasure.
create table status_incidents (
  id int8 generated always as identity primary key,
  kind text not null
    constraint status_incidents_have_known_kinds check (kind in ('incident', 'maintenance')),
  components text[] not null
    constraint status_incidents_name_components check (cardinality(components) between 1 and 4
      and components <@ array['gateway', 'models', 'payments', 'letters']),
  title_ru text not null,
  title_en text not null,
  begins_at timestamptz not null,
  -- Of maintenance: until when it is planned.
  ends_at timestamptz,
  closed_at timestamptz,
  opened_by text not null
    constraint status_incidents_name_who_opened_them check (length(opened_by) between 1 and 200),
  constraint status_incidents_have_titles check (
    length(title_ru) between 1 and 150 and length(title_en) between 1 and 150
    and title_ru || title_en !~ '[\u0001-\u001f\u007f]|[^[:space:]][@＠][^[:space:]]'),
  constraint status_incidents_of_maintenance_end
    check ((kind = 'maintenance') = (ends_at is not null)),
  constraint status_incidents_end_after_they_begin check (ends_at > begins_at),
  constraint status_incidents_last_at_most_a_week check (ends_at <= begins_at + interval '7 days')
);
create index status_incidents_by_begin on status_incidents (begins_at);

create table status_incident_updates (
  id int8 generated always as identity primary key,
  incident_id int8 not null references status_incidents,
  at timestamptz not null default ledger_now(),
  state text not null
    constraint status_incident_updates_have_known_states
      check (state in ('investigating', 'identified', 'watching', 'planned', 'closed')),
  text_ru text not null,
  text_en text not null,
  written_by text not null
    constraint status_incident_updates_name_their_author
      check (length(written_by) between 1 and 200),
  constraint status_incident_updates_have_texts check (
    length(text_ru) between 1 and 2000 and length(text_en) between 1 and 2000
    and text_ru || text_en !~ '[\u0001-\u0009\u000b-\u001f\u007f]|[^[:space:]][@＠][^[:space:]]')
);
create index status_incident_updates_by_incident on status_incident_updates (incident_id, id);

-- The history is written by this function alone; src/status/sql/status.sql says how.
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
