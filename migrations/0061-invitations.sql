-- Operators invite people: such a registration has nobody's password yet, and names who invited.
--
-- registrations.invited_by: the operator; null for a person who registered by themselves. An
-- invitation keeps the hash of a random text as its password, which nobody knows: the version
-- before answers its link with "wrong password" and creates no account.
--
-- Adding a column without a value takes a moment.

alter table registrations add column invited_by text;
