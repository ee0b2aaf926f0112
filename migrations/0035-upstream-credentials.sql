-- Credentials at upstreams that the operator adds, rotates or drains while the gateway serves.
--
-- Why: the files and variables of a node are read when its processes start, and a restart for each
-- new credential is one too many at night. Only references are stored here, never a secret: each
-- process reads the file or the variable on its own machine.
--
-- Safe while an older version runs: nothing used the tables before. It goes on with the credentials
-- that are configured on its node.

create table upstream_credentials (
  -- The upstream's name and the credential's: a number if a node's file lists it, else a word.
  target text primary key
    constraint upstream_credentials_target_is_a_label
    check (target ~ '^[a-z0-9-]{1,40}#[a-z0-9-]{1,40}$'),
  -- Null: as each node's file says. No command: who can write here must not be able to run programs
  -- on the gateway's machines.
  reference text
    constraint upstream_credentials_reference_is_a_variable_or_file
    check (reference ~ '^(bearer:)?(env|file):.+$'),
  is_drained bool not null default false,
  changed_by text not null,
  changed_at timestamptz not null default clock_timestamp()
);

-- The credentials that a process cannot use, for `op upstreams`. Old rows are of processes that
-- have ended.
create table upstream_credential_problems (
  instance int8 not null,
  target text not null,
  problem text not null,
  seen_at timestamptz not null,
  primary key (instance, target)
);
