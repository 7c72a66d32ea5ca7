-- Plans of one vault read its memberships, not those of the whole account.
--
-- The planner took an account to be as large as a vault. So an index in which the vault comes after
-- the prompt looked as cheap as one in which it comes first, once a vacuum had let both be read
-- without the table. Servers of the schema before may run beside newer ones.
--
-- It must come before a database is distributed: Citus refuses it on a distributed table.

-- Ten thousand memberships for each account, a hundred for each vault.
ALTER TABLE vault_prompt ALTER COLUMN account_id SET (n_distinct = -0.0001);

ANALYZE vault_prompt;
