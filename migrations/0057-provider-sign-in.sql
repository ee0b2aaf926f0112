-- Operators may sign in by the company's identity provider (OpenID Connect). A session keeps when
-- the provider recognised its person, and when the provider's second factor counted as ours.
-- Adding columns without values takes a moment.

alter table operator_sessions
  add column provider_at timestamptz,
  add column provider_factor_at timestamptz;
