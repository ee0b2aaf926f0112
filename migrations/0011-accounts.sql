-- People: accounts, how they sign in, what they agreed to, and who is guessing.
--
-- Why: an account is a person's and a book is the ledger's; one row here ties the two. The tables
-- from accounts to passkeys are also better-auth's, under names of ours: a test compares what it
-- expects with what stands here, so that it never has a reason to change a table by itself.
--
-- Safe while an older version runs: it adds tables that nothing else names.

-- No foreign key to books: people live at home and a book may live in another cell. book_id is
-- nullable for better-auth's eyes only, which refuses to run beside a required column it does not
-- write; the check refuses a row without a book all the same.
-- A closed account gives its address up at once, so that its owner may come again; `former_email`
-- stays for the term in which claims can still be made, and is then erased.
create table accounts (
  id text primary key
    constraint accounts_ids_are_prefixed check (id ~ '^acc_[A-Za-z0-9_-]{16}$'),
  email text not null
    constraint accounts_emails_are_lower_case check (email = lower(email)),
  email_confirmed boolean not null default true
    constraint accounts_exist_only_confirmed check (email_confirmed),
  name text not null default ''
    constraint accounts_ask_for_no_name check (name = ''),
  image text
    constraint accounts_have_no_image check (image is null),
  second_factor_on boolean not null default false,
  language text not null default 'ru'
    constraint accounts_speak_a_known_language check (language in ('ru', 'en')),
  book_id int8,
  created_at timestamptz not null default clock_timestamp(),
  updated_at timestamptz not null default clock_timestamp(),
  closed_at timestamptz,
  unspent text
    constraint accounts_unspent_is_decided check (unspent in ('refund', 'forfeit')),
  former_email text,
  erase_at timestamptz,
  erased_at timestamptz,
  constraint accounts_emails_are_taken_once unique (email),
  constraint accounts_have_a_book check (book_id is not null),
  constraint accounts_books_have_one_owner unique (book_id),
  constraint accounts_closed_have_their_times check (
    (closed_at is null) = (erase_at is null)
    and (closed_at is null) = (unspent is null)
    and (closed_at is not null or (former_email is null and erased_at is null))
    and (erased_at is null or former_email is null)
  )
);
create index accounts_to_erase on accounts (erase_at)
  where erase_at is not null and erased_at is null;

-- Registrations wait here for their e-mail to be confirmed: nobody is an account before that. Each
-- keeps its own password, so that a stranger who registers somebody's address first gains nothing.
create table registrations (
  id text primary key
    constraint registrations_ids_are_prefixed check (id ~ '^reg_[A-Za-z0-9_-]{16}$'),
  email text not null
    constraint registrations_emails_are_lower_case check (email = lower(email)),
  password_hash text not null
    constraint registrations_passwords_are_argon2id check (password_hash like '$argon2id$v=19$%'),
  language text not null
    constraint registrations_speak_a_known_language check (language in ('ru', 'en')),
  consents jsonb not null,
  address text not null,
  code_hash bytea not null
    constraint registrations_codes_are_digests check (length(code_hash) = 32),
  created_at timestamptz not null default clock_timestamp(),
  expires_at timestamptz not null,
  constraint registrations_codes_are_their_own unique (code_hash)
);
create index registrations_by_email on registrations (email, created_at);
create index registrations_by_expiry on registrations (expires_at);

-- `secret` is what the cookie carries beside our signature: the row alone opens nothing.
create table sessions (
  id text primary key,
  account_id text not null references accounts (id) on delete cascade,
  secret text not null,
  address text,
  agent text,
  created_at timestamptz not null default clock_timestamp(),
  updated_at timestamptz not null,
  expires_at timestamptz not null,
  last_seen_at timestamptz not null default clock_timestamp(),
  constraint sessions_secrets_are_their_own unique (secret)
);
create index sessions_by_account on sessions (account_id);
create index sessions_by_expiry on sessions (expires_at);

-- Passwords. better-auth keeps sign-ins by other services in the same table; we have none, and the
-- table refuses them, because such a sign-in would skip the password and the second factor.
create table credentials (
  id text primary key,
  account_id text not null references accounts (id) on delete cascade,
  kind text not null
    constraint credentials_are_passwords check (kind = 'credential'),
  subject text not null,
  password_hash text
    constraint credentials_passwords_are_argon2id check (password_hash like '$argon2id$v=19$%'),
  oauth_access text,
  oauth_refresh text,
  oauth_identity text,
  oauth_access_ends_at timestamptz,
  oauth_refresh_ends_at timestamptz,
  oauth_scope text,
  created_at timestamptz not null default clock_timestamp(),
  updated_at timestamptz not null default clock_timestamp(),
  constraint credentials_belong_to_their_account check (subject = account_id),
  constraint credentials_are_one_per_account unique (account_id, kind),
  constraint credentials_have_a_password check (password_hash is not null),
  constraint credentials_know_no_other_service check (
    num_nonnulls(oauth_access, oauth_refresh, oauth_identity, oauth_access_ends_at,
      oauth_refresh_ends_at, oauth_scope) = 0
  )
);
create index credentials_by_account on credentials (account_id);

-- Codes out of letters and half-finished sign-ins. `identifier` is a digest: whoever reads this
-- table cannot use a link out of somebody's letter.
create table account_codes (
  id text primary key,
  identifier text not null,
  value text not null,
  created_at timestamptz not null default clock_timestamp(),
  updated_at timestamptz not null default clock_timestamp(),
  expires_at timestamptz not null
);
create index account_codes_by_identifier on account_codes (identifier);
create index account_codes_by_value on account_codes (value);
create index account_codes_by_expiry on account_codes (expires_at);

-- The seed of an authenticator app and the recovery codes, both encrypted with accounts.secret.
create table second_factors (
  id text primary key,
  account_id text not null references accounts (id) on delete cascade,
  secret text not null,
  recovery_codes text not null,
  is_verified boolean not null default false,
  failed_count int4 not null default 0,
  locked_until timestamptz,
  constraint second_factors_are_one_per_account unique (account_id)
);

create table passkeys (
  id text primary key,
  account_id text not null references accounts (id) on delete cascade,
  name text
    constraint passkeys_names_are_short check (length(name) <= 60),
  public_key text not null,
  credential_id text not null,
  counter int4 not null,
  device_type text not null,
  is_backed_up boolean not null,
  transports text,
  aaguid text,
  created_at timestamptz not null default clock_timestamp(),
  constraint passkeys_are_registered_once unique (credential_id)
);
create index passkeys_by_account on passkeys (account_id);

-- Browsers an account has signed in with. A sign-in from any other is told to the owner, and wrong
-- passwords from elsewhere do not lock these out.
create table account_devices (
  account_id text not null references accounts (id) on delete cascade,
  device_hash bytea not null
    constraint account_devices_are_digests check (length(device_hash) = 32),
  first_seen_at timestamptz not null default clock_timestamp(),
  last_seen_at timestamptz not null default clock_timestamp(),
  primary key (account_id, device_hash)
);
create index account_devices_by_last_seen on account_devices (last_seen_at);

-- What an owner agreed to: which document, which version, when, from where.
create table account_consents (
  account_id text not null references accounts (id),
  document text not null
    constraint account_consents_documents_are_words check (document ~ '^[a-z][a-z0-9-]{1,39}$'),
  version text not null
    constraint account_consents_versions_are_short check (length(version) between 1 and 40),
  accepted_at timestamptz not null,
  address text,
  primary key (account_id, document, version)
);

-- Counts of attempts, by address and by account, shared by all processes. Unlogged: after a crash
-- of the database counts begin anew, which costs a guesser's window and saves a write per attempt.
create unlogged table account_throttles (
  key text primary key,
  hits int4 not null,
  ends_at timestamptz not null
);
create index account_throttles_by_end on account_throttles (ends_at);
