-- Upstreams at run time: what an operator has changed, and what each process sees of them.
--
-- Safe while an older version runs: nothing used these before.

-- The operator's word, taken up by every process within two seconds. No row: as configured.
create table upstream_settings (
  name text primary key,
  weight int4 constraint upstream_settings_weight_is_not_negative check (weight >= 0),
  is_drained boolean not null default false,
  changed_by text not null,
  changed_at timestamptz not null default clock_timestamp()
);

-- Each process's view, for `op upstreams`. Old rows are of processes that are gone.
create table upstream_views (
  instance int8 not null,
  target text not null,
  state text not null constraint upstream_views_state_is_known
    check (state in ('closed', 'open', 'probing')),
  under_way int4 not null,
  succeeded int8 not null,
  failed int8 not null,
  seen_at timestamptz not null,
  primary key (instance, target)
);
