-- Removes the change marks of vaults that V2 added. Nothing reads them any more, and
-- their trigger ran on every update of a vault, including each change of its prompt count.

DROP TRIGGER vault_marks_change ON vault;
DROP FUNCTION vault_marks_change();
ALTER TABLE vault DROP COLUMN mark;
DROP FUNCTION fresh_mark();
