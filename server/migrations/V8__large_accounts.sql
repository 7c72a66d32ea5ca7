-- Plans are made for large accounts, whatever most accounts are like.
--
-- A statement has one plan for all accounts. Where most of them have next to nothing, all rows of
-- an account look as cheap to the planner as the one row that a whole key finds, and it may take an
-- index of which only the first column is known. In a large account that reads everything.
-- Servers of the schema before may run beside newer ones.

-- A hundred rows for each account and for each vault.
ALTER TABLE vault ALTER COLUMN account_id SET (n_distinct = -0.01);
ALTER TABLE prompt ALTER COLUMN account_id SET (n_distinct = -0.01);
ALTER TABLE job ALTER COLUMN account_id SET (n_distinct = -0.01);
ALTER TABLE vault_prompt
    ALTER COLUMN account_id SET (n_distinct = -0.01),
    ALTER COLUMN vault_id SET (n_distinct = -0.01);

-- A vault has one account, so the account does not make its rows fewer.
CREATE STATISTICS vault_prompt_of_vault (dependencies) ON account_id, vault_id FROM vault_prompt;

-- A changed prompt stays on its page, and no index changes with it.
ALTER TABLE prompt SET (fillfactor = 90);

ANALYZE vault, prompt, job, vault_prompt;
