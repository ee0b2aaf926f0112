-- What the migrations make of the database. Made by: npm run dump-schema

CREATE SCHEMA public;

COMMENT ON SCHEMA public IS 'standard public schema';

CREATE TYPE blocked_reason AS ENUM (
    'operator_blocked',
    'owner_suspended',
    'velocity_stopped'
);

CREATE TYPE contra AS ENUM (
    'revenue',
    'clearing',
    'promo',
    'loss',
    'none'
);

CREATE TYPE ending AS ENUM (
    'complete',
    'client_left',
    'refused',
    'upstream_failed',
    'process_lost',
    'given_up',
    'overdue'
);

CREATE TYPE entry_kind AS ENUM (
    'purchase',
    'promo',
    'charge',
    'void',
    'refund',
    'refund_reversal',
    'forced_debit',
    'adjust',
    'transfer'
);

CREATE TYPE finding AS (
	rule text,
	book_id bigint,
	detail text
);

CREATE TYPE hold_state AS ENUM (
    'open',
    'settled',
    'voided'
);

CREATE TYPE key_state AS ENUM (
    'pending',
    'active',
    'revoked'
);

CREATE TABLE books (
    id bigint NOT NULL,
    available bigint DEFAULT 0 NOT NULL,
    held bigint DEFAULT 0 NOT NULL,
    debt bigint DEFAULT 0 NOT NULL,
    seq bigint DEFAULT 0 NOT NULL,
    fence bigint DEFAULT 0 NOT NULL,
    requests bigint DEFAULT 0 NOT NULL,
    spent_total bigint DEFAULT 0 NOT NULL,
    day_spent bigint DEFAULT 0 NOT NULL,
    day_limit bigint,
    velocity_limit bigint,
    velocity_spent bigint DEFAULT 0 NOT NULL,
    velocity_until timestamp with time zone DEFAULT '-infinity'::timestamp with time zone NOT NULL,
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    velocity_seconds integer DEFAULT 3600 NOT NULL,
    day date DEFAULT '-infinity'::date NOT NULL,
    blocked_reason blocked_reason,
    CONSTRAINT books_available_is_never_negative CHECK ((available >= 0)),
    CONSTRAINT books_day_limit_is_not_negative CHECK ((day_limit >= 0)),
    CONSTRAINT books_debt_is_never_negative CHECK ((debt >= 0)),
    CONSTRAINT books_debt_leaves_nothing_available CHECK (((debt = 0) OR (available = 0))),
    CONSTRAINT books_held_is_never_negative CHECK ((held >= 0)),
    CONSTRAINT books_velocity_limit_is_not_negative CHECK ((velocity_limit >= 0)),
    CONSTRAINT books_velocity_window_is_positive CHECK ((velocity_seconds > 0))
)
WITH (fillfactor='40', autovacuum_vacuum_scale_factor='0.02');

CREATE TABLE audit_marks (
    book_id bigint NOT NULL,
    seq bigint NOT NULL,
    balance bigint NOT NULL,
    day date NOT NULL
)
WITH (fillfactor='70');

CREATE SEQUENCE books_serial
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;

CREATE TABLE catalogue_versions (
    version integer NOT NULL,
    applied_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    applied_by text NOT NULL,
    note text NOT NULL,
    body text NOT NULL,
    digest text NOT NULL,
    CONSTRAINT catalogue_versions_are_short CHECK (((octet_length(body) >= 1) AND (octet_length(body) <= 1000000))),
    CONSTRAINT catalogue_versions_count_from_one CHECK ((version > 0)),
    CONSTRAINT catalogue_versions_match_their_digest CHECK ((digest = encode(sha256(convert_to(body, 'UTF8'::name)), 'hex'::text))),
    CONSTRAINT catalogue_versions_name_who_applied_them CHECK ((applied_by <> ''::text))
);

CREATE TABLE cell (
    is_only boolean DEFAULT true NOT NULL,
    number smallint NOT NULL,
    CONSTRAINT cell_is_one_row CHECK (is_only),
    CONSTRAINT cell_number_fits_ids CHECK (((number >= 0) AND (number <= 4095)))
);

CREATE TABLE checkpoint_sums (
    book_id bigint NOT NULL,
    kind entry_kind NOT NULL,
    entries bigint NOT NULL,
    amount bigint NOT NULL,
    written_off bigint NOT NULL
);

CREATE TABLE checkpoints (
    book_id bigint NOT NULL,
    seq bigint NOT NULL,
    balance bigint NOT NULL,
    day date NOT NULL
);

CREATE TABLE entries (
    book_id bigint NOT NULL,
    seq bigint NOT NULL,
    amount bigint NOT NULL,
    balance bigint NOT NULL,
    at timestamp with time zone NOT NULL,
    hold_id uuid,
    input bigint,
    output bigint,
    cache_read bigint,
    cache_write_5m bigint,
    cache_write_1h bigint,
    priced bigint,
    written_off bigint,
    day date NOT NULL,
    tariff integer,
    kind entry_kind NOT NULL,
    contra contra NOT NULL,
    ending ending,
    estimated boolean,
    message_id text,
    ref text,
    note text,
    CONSTRAINT entries_charge_what_was_priced_less_what_was_written_off CHECK (((kind <> 'charge'::entry_kind) OR ((priced = (written_off - amount)) AND (amount <= 0) AND (written_off >= 0)))),
    CONSTRAINT entries_of_rare_kinds_name_their_posting CHECK (((kind = ANY (ARRAY['charge'::entry_kind, 'void'::entry_kind])) OR (ref IS NOT NULL))),
    CONSTRAINT entries_of_requests_name_their_hold CHECK (((kind <> ALL (ARRAY['charge'::entry_kind, 'void'::entry_kind])) OR ((hold_id IS NOT NULL) AND (ending IS NOT NULL)))),
    CONSTRAINT entries_of_voids_are_free CHECK (((kind <> 'void'::entry_kind) OR (amount = 0)))
)
PARTITION BY RANGE (day);

CREATE TABLE entries_default (
    book_id bigint NOT NULL,
    seq bigint NOT NULL,
    amount bigint NOT NULL,
    balance bigint NOT NULL,
    at timestamp with time zone NOT NULL,
    hold_id uuid,
    input bigint,
    output bigint,
    cache_read bigint,
    cache_write_5m bigint,
    cache_write_1h bigint,
    priced bigint,
    written_off bigint,
    day date NOT NULL,
    tariff integer,
    kind entry_kind NOT NULL,
    contra contra NOT NULL,
    ending ending,
    estimated boolean,
    message_id text,
    ref text,
    note text,
    CONSTRAINT entries_charge_what_was_priced_less_what_was_written_off CHECK (((kind <> 'charge'::entry_kind) OR ((priced = (written_off - amount)) AND (amount <= 0) AND (written_off >= 0)))),
    CONSTRAINT entries_of_rare_kinds_name_their_posting CHECK (((kind = ANY (ARRAY['charge'::entry_kind, 'void'::entry_kind])) OR (ref IS NOT NULL))),
    CONSTRAINT entries_of_requests_name_their_hold CHECK (((kind <> ALL (ARRAY['charge'::entry_kind, 'void'::entry_kind])) OR ((hold_id IS NOT NULL) AND (ending IS NOT NULL)))),
    CONSTRAINT entries_of_voids_are_free CHECK (((kind <> 'void'::entry_kind) OR (amount = 0)))
);

CREATE TABLE holds (
    id uuid NOT NULL,
    book_id bigint NOT NULL,
    instance bigint NOT NULL,
    worst bigint NOT NULL,
    floor bigint NOT NULL,
    granted bigint NOT NULL,
    fence bigint NOT NULL,
    created_at timestamp with time zone NOT NULL,
    deadline_at timestamp with time zone NOT NULL,
    day integer NOT NULL,
    tariff integer NOT NULL,
    state hold_state NOT NULL,
    ending ending,
    entry_seq bigint,
    charged bigint,
    closed_at timestamp with time zone,
    CONSTRAINT holds_charge_no_more_than_they_hold CHECK (((charged IS NULL) OR ((charged >= 0) AND (charged <= granted)))),
    CONSTRAINT holds_close_with_an_ending CHECK ((((state = 'open'::hold_state) = (ending IS NULL)) AND ((state = 'open'::hold_state) = (closed_at IS NULL)))),
    CONSTRAINT holds_grant_no_more_than_the_worst_case CHECK ((((granted >= 0) AND (granted <= worst)) AND ((floor >= 0) AND (floor <= worst)))),
    CONSTRAINT holds_settle_with_an_entry CHECK (((state <> 'settled'::hold_state) OR ((charged IS NOT NULL) AND (entry_seq IS NOT NULL))))
)
PARTITION BY RANGE (day);

CREATE TABLE holds_default (
    id uuid NOT NULL,
    book_id bigint NOT NULL,
    instance bigint NOT NULL,
    worst bigint NOT NULL,
    floor bigint NOT NULL,
    granted bigint NOT NULL,
    fence bigint NOT NULL,
    created_at timestamp with time zone NOT NULL,
    deadline_at timestamp with time zone NOT NULL,
    day integer NOT NULL,
    tariff integer NOT NULL,
    state hold_state NOT NULL,
    ending ending,
    entry_seq bigint,
    charged bigint,
    closed_at timestamp with time zone,
    CONSTRAINT holds_charge_no_more_than_they_hold CHECK (((charged IS NULL) OR ((charged >= 0) AND (charged <= granted)))),
    CONSTRAINT holds_close_with_an_ending CHECK ((((state = 'open'::hold_state) = (ending IS NULL)) AND ((state = 'open'::hold_state) = (closed_at IS NULL)))),
    CONSTRAINT holds_grant_no_more_than_the_worst_case CHECK ((((granted >= 0) AND (granted <= worst)) AND ((floor >= 0) AND (floor <= worst)))),
    CONSTRAINT holds_settle_with_an_entry CHECK (((state <> 'settled'::hold_state) OR ((charged IS NOT NULL) AND (entry_seq IS NOT NULL))))
)
WITH (fillfactor='44');

CREATE TABLE instances (
    id bigint NOT NULL,
    role text NOT NULL,
    beat bigint DEFAULT 0 NOT NULL,
    started_at timestamp with time zone NOT NULL,
    beat_at timestamp with time zone NOT NULL
)
WITH (fillfactor='50');

CREATE TABLE keys (
    id text NOT NULL,
    book_id bigint NOT NULL,
    state key_state NOT NULL,
    fence bigint,
    last4 text NOT NULL,
    hash text NOT NULL,
    lookup bytea,
    lookup_slot smallint,
    created_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    activated_at timestamp with time zone,
    revoked_at timestamp with time zone,
    CONSTRAINT keys_are_kept_only_as_argon2id CHECK (((hash ~~ '$argon2id$v=19$%'::text) AND ((length(hash) >= 60) AND (length(hash) <= 255)))),
    CONSTRAINT keys_ids_are_cell_and_public_id CHECK ((id ~ '^key_[A-Za-z0-9_-]{14}$'::text)),
    CONSTRAINT keys_lookups_are_digests CHECK ((length(lookup) = 16)),
    CONSTRAINT keys_share_a_lookup_at_most_four_times CHECK (((lookup_slot >= 1) AND (lookup_slot <= 4))),
    CONSTRAINT keys_show_only_four_characters CHECK ((length(last4) = 4)),
    CONSTRAINT keys_states_have_their_times CHECK ((((state <> 'pending'::key_state) = (activated_at IS NOT NULL)) AND ((state <> 'pending'::key_state) = (fence IS NOT NULL)) AND ((state = 'revoked'::key_state) = (revoked_at IS NOT NULL)))),
    CONSTRAINT keys_with_a_lookup_have_a_slot CHECK (((lookup IS NULL) = (lookup_slot IS NULL)))
);

CREATE TABLE lots (
    book_id bigint NOT NULL,
    seq bigint NOT NULL,
    kind entry_kind NOT NULL,
    ref text NOT NULL,
    credited bigint NOT NULL,
    taken_back bigint DEFAULT 0 NOT NULL,
    at timestamp with time zone NOT NULL,
    CONSTRAINT lots_credit_something CHECK ((credited > 0)),
    CONSTRAINT lots_take_back_no_more_than_credited CHECK (((taken_back >= 0) AND (taken_back <= credited)))
);

CREATE TABLE postings (
    kind entry_kind NOT NULL,
    ref text NOT NULL,
    book_id bigint NOT NULL,
    amount bigint NOT NULL,
    seq bigint NOT NULL,
    lot bigint,
    at timestamp with time zone NOT NULL,
    CONSTRAINT postings_are_of_rare_kinds CHECK ((kind <> ALL (ARRAY['charge'::entry_kind, 'void'::entry_kind]))),
    CONSTRAINT postings_refs_are_short CHECK (((length(ref) >= 1) AND (length(ref) <= 200)))
);

CREATE TABLE tariffs (
    id integer NOT NULL,
    catalogue_version integer NOT NULL,
    model text NOT NULL,
    coefficient bigint NOT NULL,
    cache_read bigint NOT NULL,
    cache_write_5m bigint NOT NULL,
    cache_write_1h bigint NOT NULL,
    CONSTRAINT tariffs_cache_read_is_not_negative CHECK ((cache_read >= 0)),
    CONSTRAINT tariffs_cache_write_1h_is_not_negative CHECK ((cache_write_1h >= 0)),
    CONSTRAINT tariffs_cache_write_5m_is_not_negative CHECK ((cache_write_5m >= 0)),
    CONSTRAINT tariffs_coefficient_is_not_negative CHECK ((coefficient >= 0))
);

ALTER TABLE tariffs ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME tariffs_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE upstream_settings (
    name text NOT NULL,
    weight integer,
    is_drained boolean DEFAULT false NOT NULL,
    changed_by text NOT NULL,
    changed_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT upstream_settings_weight_is_not_negative CHECK ((weight >= 0))
);

CREATE TABLE upstream_views (
    instance bigint NOT NULL,
    target text NOT NULL,
    state text NOT NULL,
    under_way integer NOT NULL,
    succeeded bigint NOT NULL,
    failed bigint NOT NULL,
    seen_at timestamp with time zone NOT NULL,
    CONSTRAINT upstream_views_state_is_known CHECK ((state = ANY (ARRAY['closed'::text, 'open'::text, 'probing'::text])))
);

ALTER TABLE ONLY entries ATTACH PARTITION entries_default DEFAULT;

ALTER TABLE ONLY holds ATTACH PARTITION holds_default DEFAULT;

ALTER TABLE ONLY audit_marks
    ADD CONSTRAINT audit_marks_pkey PRIMARY KEY (book_id);

ALTER TABLE ONLY books
    ADD CONSTRAINT books_pkey PRIMARY KEY (id);

ALTER TABLE ONLY catalogue_versions
    ADD CONSTRAINT catalogue_versions_are_never_repeated UNIQUE (digest);

ALTER TABLE ONLY catalogue_versions
    ADD CONSTRAINT catalogue_versions_pkey PRIMARY KEY (version);

ALTER TABLE ONLY cell
    ADD CONSTRAINT cell_pkey PRIMARY KEY (is_only);

ALTER TABLE ONLY checkpoint_sums
    ADD CONSTRAINT checkpoint_sums_pkey PRIMARY KEY (book_id, kind);

ALTER TABLE ONLY checkpoints
    ADD CONSTRAINT checkpoints_pkey PRIMARY KEY (book_id);

ALTER TABLE ONLY entries
    ADD CONSTRAINT entries_pkey PRIMARY KEY (book_id, seq, day);

ALTER TABLE ONLY entries_default
    ADD CONSTRAINT entries_default_pkey PRIMARY KEY (book_id, seq, day);

ALTER TABLE ONLY holds
    ADD CONSTRAINT holds_pkey PRIMARY KEY (day, id);

ALTER TABLE ONLY holds_default
    ADD CONSTRAINT holds_default_pkey PRIMARY KEY (day, id);

ALTER TABLE ONLY instances
    ADD CONSTRAINT instances_pkey PRIMARY KEY (id);

ALTER TABLE ONLY keys
    ADD CONSTRAINT keys_pkey PRIMARY KEY (id);

ALTER TABLE ONLY keys
    ADD CONSTRAINT keys_slots_are_taken_once UNIQUE (lookup, lookup_slot);

ALTER TABLE ONLY lots
    ADD CONSTRAINT lots_are_one_per_posting UNIQUE (kind, ref);

ALTER TABLE ONLY lots
    ADD CONSTRAINT lots_pkey PRIMARY KEY (book_id, seq);

ALTER TABLE ONLY postings
    ADD CONSTRAINT postings_pkey PRIMARY KEY (kind, ref);

ALTER TABLE ONLY tariffs
    ADD CONSTRAINT tariffs_are_one_per_version_and_model UNIQUE (catalogue_version, model);

ALTER TABLE ONLY tariffs
    ADD CONSTRAINT tariffs_pkey PRIMARY KEY (id);

ALTER TABLE ONLY upstream_settings
    ADD CONSTRAINT upstream_settings_pkey PRIMARY KEY (name);

ALTER TABLE ONLY upstream_views
    ADD CONSTRAINT upstream_views_pkey PRIMARY KEY (instance, target);

CREATE INDEX holds_by_creation ON ONLY holds USING brin (created_at) WITH (pages_per_range='32');

CREATE INDEX holds_default_created_at_idx ON holds_default USING brin (created_at) WITH (pages_per_range='32');

CREATE UNIQUE INDEX keys_active_are_one_per_book ON keys USING btree (book_id) WHERE (state = 'active'::key_state);

CREATE UNIQUE INDEX keys_pending_are_one_per_book ON keys USING btree (book_id) WHERE (state = 'pending'::key_state);

CREATE INDEX postings_by_book ON postings USING btree (book_id, seq);

ALTER INDEX entries_pkey ATTACH PARTITION entries_default_pkey;

ALTER INDEX holds_by_creation ATTACH PARTITION holds_default_created_at_idx;

ALTER INDEX holds_pkey ATTACH PARTITION holds_default_pkey;

CREATE TRIGGER catalogue_versions_are_append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON catalogue_versions FOR EACH STATEMENT EXECUTE FUNCTION catalogue_versions_refuse_change();

CREATE TRIGGER catalogue_versions_tell_listeners AFTER INSERT ON catalogue_versions FOR EACH ROW EXECUTE FUNCTION catalogue_versions_notify();

CREATE TRIGGER entries_are_never_emptied BEFORE TRUNCATE ON entries FOR EACH STATEMENT EXECUTE FUNCTION ledger_refuse_change();

CREATE TRIGGER entries_never_change BEFORE DELETE OR UPDATE ON entries FOR EACH ROW EXECUTE FUNCTION ledger_refuse_change();

CREATE TRIGGER keys_never_come_back BEFORE DELETE OR UPDATE ON keys FOR EACH ROW EXECUTE FUNCTION keys_refuse_change();

CREATE TRIGGER tariffs_are_never_emptied BEFORE TRUNCATE ON tariffs FOR EACH STATEMENT EXECUTE FUNCTION ledger_refuse_change();

CREATE TRIGGER tariffs_never_change BEFORE DELETE OR UPDATE ON tariffs FOR EACH ROW EXECUTE FUNCTION ledger_refuse_change();

ALTER TABLE ONLY checkpoint_sums
    ADD CONSTRAINT checkpoint_sums_book_id_fkey FOREIGN KEY (book_id) REFERENCES checkpoints(book_id);

ALTER TABLE ONLY checkpoints
    ADD CONSTRAINT checkpoints_book_id_fkey FOREIGN KEY (book_id) REFERENCES books(id);

ALTER TABLE ONLY keys
    ADD CONSTRAINT keys_book_id_fkey FOREIGN KEY (book_id) REFERENCES books(id);

ALTER TABLE ONLY lots
    ADD CONSTRAINT lots_book_id_fkey FOREIGN KEY (book_id) REFERENCES books(id);

ALTER TABLE ONLY lots
    ADD CONSTRAINT lots_kind_ref_fkey FOREIGN KEY (kind, ref) REFERENCES postings(kind, ref);

ALTER TABLE ONLY postings
    ADD CONSTRAINT postings_book_id_fkey FOREIGN KEY (book_id) REFERENCES books(id);
