-- Counts, slugs and limits are kept by the statements themselves: no trigger, no function, no
-- deferred constraint. Each key of account data begins with `account_id`, so that the data of an
-- account can be on any node of a distributed database.
--
-- Stop all servers of the schemas before. One that still runs fails at everything that names what
-- is renamed or dropped here, and so cannot change a vault without its count.

DROP TRIGGER membership_joined ON membership;
DROP TRIGGER membership_parted ON membership;
DROP TRIGGER prompt_leaves ON prompt;
DROP FUNCTION count_joined(), count_parted(), check_locks_of_prompt(), vaults_of(bigint, bigint),
    free_slug(bigint, text, bigint), lock_and_count_keys(bigint), may_add_vault(bigint, bigint);

-- The new name is for servers of the schemas before: they do not know that whoever changes a
-- membership changes `vault.prompt_count` too, under the vault's lock.
ALTER TABLE membership RENAME TO vault_prompt;
ALTER SEQUENCE membership_id_seq RENAME TO vault_prompt_id_seq;
ALTER INDEX membership_pkey RENAME TO vault_prompt_pkey;
ALTER INDEX membership_id RENAME TO vault_prompt_id;
ALTER INDEX membership_order RENAME TO vault_prompt_order;
ALTER INDEX membership_kind RENAME TO vault_prompt_kind;
ALTER INDEX membership_prompt RENAME TO vault_prompt_prompt;
ALTER TABLE vault_prompt
    RENAME CONSTRAINT membership_account_id_vault_id_fkey TO vault_prompt_account_id_vault_id_fkey;

-- The latest pinned has the greatest `pin` of its vault; it needs no sequence.
DROP SEQUENCE membership_pin;

-- Not ON DELETE CASCADE: a statement that deletes a prompt deletes the memberships that it counts,
-- and fails if there is another one. Not with `kind`, which would need ON UPDATE CASCADE: a
-- statement that changes it changes the memberships too, when the prompt is locked FOR UPDATE.
ALTER TABLE vault_prompt
    DROP CONSTRAINT membership_account_id_kind_prompt_id_fkey,
    ADD CONSTRAINT vault_prompt_account_id_prompt_id_fkey
        FOREIGN KEY (account_id, prompt_id) REFERENCES prompt (account_id, id);

-- How often it was saved to a vault by itself: an update that waited for such a statement can
-- tell by it that its snapshot is too old to return the vaults.
ALTER TABLE prompt ADD COLUMN saves bigint NOT NULL DEFAULT 0;

-- The General vault is found by the index `vault_general`. References to `account` are allowed,
-- where `account` is on every node.
ALTER TABLE account DROP CONSTRAINT account_general_vault, DROP COLUMN general_vault_id;
ALTER TABLE vault ALTER CONSTRAINT vault_account_id_fkey NOT DEFERRABLE;

-- The account of each vault, for forks, which name a vault by its id alone. A row comes and goes
-- with its vault, in the same statement.
CREATE TABLE vault_directory (
    vault_id bigint PRIMARY KEY,
    account_id bigint NOT NULL REFERENCES account (id)
);
INSERT INTO vault_directory (vault_id, account_id) SELECT id, account_id FROM vault;
DROP INDEX vault_id;

-- What workers look for, of all accounts. Where data is spread by account, this table is not, so
-- that a worker can lock a row of it that no other one has locked; the job stands beside its
-- account. A row comes, changes and goes with `job.claimable_at` or `job.reserved_at`, in the same
-- statement; when a worker claims a job, the row changes first.
CREATE TABLE due_job (
    account_id bigint NOT NULL,
    name_digest bytea NOT NULL,
    -- Whether the provider's word is awaited. No worker claims it then.
    submitting boolean NOT NULL,
    -- When a worker may claim it, or since when the provider's word is awaited.
    due_at timestamptz NOT NULL,
    PRIMARY KEY (account_id, name_digest)
) WITH (fillfactor = 80);
INSERT INTO due_job (account_id, name_digest, submitting, due_at)
    SELECT account_id, name_digest, due_at IS NULL, coalesce(due_at, submitting_since)
    FROM job WHERE num_nonnulls(due_at, submitting_since) = 1;

-- The jobs of an account in the order in which workers may claim them.
CREATE INDEX due_job_turn ON due_job (account_id, due_at) WHERE NOT submitting;
CREATE INDEX due_job_late ON due_job (due_at) WHERE submitting;
DROP INDEX job_due, job_due_of_account, job_submitting;

-- The new names are for servers of the schemas before: they do not know `due_job`.
ALTER TABLE job RENAME COLUMN due_at TO claimable_at;
ALTER TABLE job RENAME COLUMN submitting_since TO reserved_at;
