-- The dashboard finds prompts by the beginnings of words in title, text and platform.
--
-- Servers of the schema before may run beside newer ones. The index is built while prompts cannot
-- be changed: about a minute for a million of them.

-- Punctuation separates words; without `translate` the parser would take `sea/harbour` for the name of
-- a file, and in a database with the locale C all that is not ASCII for letters. A negative number stands for the account, so that one scan of the index finds the
-- words of one account: no word that is searched for begins with a minus sign. `search.rs` has the
-- same expression.
CREATE INDEX prompt_words ON prompt USING gin (to_tsvector('simple', (-account_id)::text || ' ' || translate(
    title || ' ' || body || ' ' || coalesce(platform, ''),
    '!"#$%&''()*+,-./:;<=>?@[\]^_`{|}~—–…“”„‘’«»·•¡¿、。，！？：；（）「」『』', '                                                           ')));
