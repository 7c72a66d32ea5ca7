-- The number of vaults of an account is limited.
--
-- Servers of the schema before may run beside newer ones. They do not know the limit.

-- Whether an account may have one vault more, if it may have `most`. Near the limit it locks the
-- account, so that of two new vaults one is refused; it is volatile, so that it sees the vault that
-- it waited for. A database has fewer connections than the distance from which on it locks, and a
-- fork of a large vault does not keep the others waiting before.
CREATE FUNCTION may_add_vault(account bigint, most bigint) RETURNS boolean
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    vaults bigint := (SELECT count(*) FROM vault v WHERE v.account_id = account);
BEGIN
    IF vaults + 1000 < most THEN
        RETURN true;
    END IF;
    PERFORM 1 FROM account a WHERE a.id = may_add_vault.account FOR NO KEY UPDATE;
    RETURN (SELECT count(*) FROM vault v WHERE v.account_id = may_add_vault.account) < most;
END $$;
