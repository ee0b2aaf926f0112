-- Which factors a session has proven, and when; and a reset that its owner has not reviewed yet.
--
-- Why: the age of a session does not tell whether its owner has just proven the password, the
-- second factor or a passkey. Each action now names the proofs that it needs. After a password
-- reset, passkeys do not count until the owner has looked through them: a thief may have added one.
--
-- Safe while an older version runs: it writes sessions without these columns. Such a session has
-- proven nothing and counts as one on a shared device, so its owner is asked once more.

alter table sessions
  add column password_at timestamptz,
  -- A code of the authenticator app.
  add column code_at timestamptz,
  add column recovery_at timestamptz,
  add column passkey_at timestamptz,
  -- False on a device that others use too: proofs then count for a shorter time.
  add column is_private bool not null default false;

alter table accounts
  -- When the password was reset by e-mail; null once the owner has reviewed passkeys and keys.
  add column unreviewed_reset_at timestamptz;
