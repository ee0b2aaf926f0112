-- Operators are people: sign-in with a second factor, roles, limits of a day, unattended tokens,
-- reads of personal data, and approvals by a second person.
--
-- Why: whoever reached the shell acted as any name after `--as`, without a proof and without a
-- limit, and one person alone could move any amount.
--
-- Safe while an older version runs: it uses none of this.

create table operators (
  id text primary key,
  email text not null,
  name text not null,
  role text not null,
  -- invited: has no password yet, or no second factor; only the one-time code leads further.
  state text not null default 'invited',
  password_hash text,
  invitation_digest bytea,
  invitation_ends_at timestamptz,
  created_at timestamptz not null default clock_timestamp(),
  created_by text not null,
  constraint operators_have_own_ids check (id ~ '^opr_[0-9A-Za-z_-]{16}$'),
  constraint operators_have_one_address_each unique (email),
  constraint operators_addresses_are_lower_case check (email = lower(email)),
  constraint operators_have_known_roles check (role in ('viewer', 'support', 'finance', 'admin')),
  constraint operators_have_known_states check (state in ('invited', 'active', 'disabled')),
  constraint operators_invitations_end
    check ((invitation_digest is null) = (invitation_ends_at is null)),
  constraint operators_passwords_are_argon2id check (password_hash like '$argon2id$%')
);

-- The authenticator app of an operator. `secret` and `recovery_codes` are encrypted;
-- `pending_secret` is one whose first code was not proven yet. `last_step` is the 30 seconds of the
-- last accepted code: no code of them, or of earlier ones, is accepted again.
create table operator_factors (
  operator_id text primary key references operators (id),
  secret text,
  pending_secret text,
  recovery_codes text,
  last_step int8 not null default 0,
  confirmed_at timestamptz,
  constraint operator_factors_are_confirmed_with_a_secret
    check ((confirmed_at is null) = (secret is null))
);

create table operator_passkeys (
  id text primary key,
  operator_id text not null references operators (id),
  credential_id text not null,
  public_key bytea not null,
  counter int8 not null,
  transports text[] not null,
  name text not null,
  created_at timestamptz not null default clock_timestamp(),
  used_at timestamptz,
  constraint operator_passkeys_are_registered_once unique (credential_id)
);
create index operator_passkeys_of_operator on operator_passkeys (operator_id);

-- What a passkey must sign. Each is used once, within minutes.
create table operator_challenges (
  id text primary key,
  challenge text not null,
  -- The session that registers a passkey; null for a sign-in.
  session_id text,
  ends_at timestamptz not null
);

create table operator_sessions (
  id text primary key,
  operator_id text not null references operators (id),
  token_digest bytea not null,
  kind text not null,
  password_at timestamptz,
  code_at timestamptz,
  recovery_at timestamptz,
  passkey_at timestamptz,
  address text not null,
  agent text not null,
  created_at timestamptz not null default clock_timestamp(),
  seen_at timestamptz not null default clock_timestamp(),
  ends_at timestamptz not null,
  constraint operator_sessions_have_one_token_each unique (token_digest),
  constraint operator_sessions_have_known_kinds check (kind in ('console', 'terminal'))
);
create index operator_sessions_of_operator on operator_sessions (operator_id);

create table operator_throttles (
  key text primary key,
  hits int4 not null,
  ends_at timestamptz not null
);

-- Tokens of scheduled commands, which run without a person.
create table operator_tokens (
  id text primary key,
  name text not null,
  role text not null,
  token_digest bytea not null,
  created_at timestamptz not null default clock_timestamp(),
  created_by text not null,
  ends_at timestamptz not null,
  used_at timestamptz,
  revoked_at timestamptz,
  constraint operator_tokens_have_one_digest_each unique (token_digest),
  constraint operator_tokens_have_known_roles
    check (role in ('viewer', 'support', 'finance', 'admin'))
);
create unique index operator_tokens_have_one_name_each on operator_tokens (name)
  where revoked_at is null;

-- Who read what about customers. It is no act: a read changes nothing, and the lock of the chain of
-- acts would make every reader wait for every other.
create table operator_reads (
  id int8 generated always as identity primary key,
  at timestamptz not null default clock_timestamp(),
  read_by text not null,
  os_user text not null,
  command text not null
);
create index operator_reads_by_time on operator_reads (at);

-- What an operator moved on a day, UTC. The row's lock lets two commands of one person, given at
-- once, pass one after the other.
create table operator_day_sums (
  operator_id text not null references operators (id),
  day date not null,
  kind text not null,
  total int8 not null,
  primary key (operator_id, day, kind),
  constraint operator_day_sums_have_known_kinds check (kind in ('credits', 'kopecks')),
  constraint operator_day_sums_are_sums check (total >= 0)
);

-- Commands above a limit that wait for a second person.
create table operator_approvals (
  id text primary key,
  kind text not null,
  permission text not null,
  command text not null,
  usage text not null,
  args text[] not null,
  options jsonb not null,
  plan text[] not null,
  plan_digest bytea not null,
  asked_by text not null references operators (id),
  asked_at timestamptz not null default clock_timestamp(),
  ends_at timestamptz not null,
  state text not null default 'waiting',
  decided_by text references operators (id),
  decided_at timestamptz,
  detail text not null default '',
  constraint operator_approvals_have_known_states
    check (state in ('waiting', 'running', 'done', 'failed', 'declined', 'withdrawn', 'expired')),
  constraint operator_approvals_need_another_person
    check (decided_by <> asked_by or state in ('withdrawn')),
  constraint operator_approvals_are_decided_by_a_person
    check ((decided_by is null) = (state in ('waiting', 'expired')))
);
create index operator_approvals_that_wait on operator_approvals (asked_at) where state = 'waiting';

-- Acts without a sign-in, for the metric of a worker.
create index operator_acts_of_break_glass on operator_acts (at)
  where acted_by like 'break-glass %';

-- What operators read about customers and what waits for approval name nobody by address once it is
-- only history: each address becomes the id of its account, as in operators' acts. Security
-- definer: the operator's role may not read the changes of addresses itself.

create or replace function operator_reads_without_addresses() returns trigger
language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
begin
  new.at := clock_timestamp();
  new.command := acts_without_addresses(new.command, 2000);
  return new;
end
$$;

-- A request that was decided or has expired is only history. While it waits, the person who decides
-- needs the addresses, and the command runs with them.
create or replace function operator_approvals_forget_addresses() returns trigger
language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
begin
  if new.state not in ('waiting', 'running') then
    new.command := acts_without_addresses(new.command, 2000);
    new.plan := array(
      select acts_without_addresses(line, 2000) from unnest(new.plan) with ordinality as l (line, n)
      order by n);
    new.detail := acts_without_addresses(new.detail, 1000);
    new.args := '{}';
    new.options := '{}';
  end if;
  return new;
end
$$;

create trigger operator_reads_without_addresses before insert on operator_reads
  for each row execute function operator_reads_without_addresses();
create trigger operator_reads_are_never_changed before update or delete on operator_reads
  for each row execute function operator_acts_refuse_change();
create trigger operator_reads_are_never_truncated before truncate on operator_reads
  for each statement execute function operator_acts_refuse_change();
create trigger operator_approvals_forget_addresses before update on operator_approvals
  for each row execute function operator_approvals_forget_addresses();
